"""Scrapy components that drop or mark near-duplicate pages, and do not follow the links that stand on them.

ADDONS = {"samesame.web.scrapy.Addon": 500}
"""

from samesame.errors import MissingExtraError

try:
    import scrapy as _scrapy  # noqa: F401  (only to say what is missing)
except ImportError as error:
    raise MissingExtraError(
        "samesame.web.scrapy needs the package scrapy", hint="pip install 'samesame[scrapy]'"
    ) from error

from samesame.web.scrapy.addon import Addon
from samesame.web.scrapy.links import NearDuplicateLinksMiddleware
from samesame.web.scrapy.pipeline import NearDuplicatePipeline

__all__ = ["Addon", "NearDuplicateLinksMiddleware", "NearDuplicatePipeline"]
