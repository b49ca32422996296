"""Scrapy components that drop or mark near-duplicate pages, and do not follow the links that stand on them.

ADDONS = {"nearsame.web.scrapy.Addon": 500}
"""

from nearsame.errors import MissingExtraError

try:
    import scrapy as _scrapy  # noqa: F401  (only to say what is missing)
except ImportError as error:
    raise MissingExtraError.of("nearsame.web.scrapy needs the package scrapy", "scrapy") from error

from nearsame.web.scrapy.addon import Addon
from nearsame.web.scrapy.links import NearDuplicateLinksMiddleware
from nearsame.web.scrapy.pipeline import NearDuplicatePipeline

__all__ = ["Addon", "NearDuplicateLinksMiddleware", "NearDuplicatePipeline"]
