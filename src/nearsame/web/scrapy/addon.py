"""The add-on: both components, with one line of settings."""

from scrapy.settings import BaseSettings

from nearsame.web.scrapy.links import NearDuplicateLinksMiddleware
from nearsame.web.scrapy.pipeline import NearDuplicatePipeline

__all__ = ["Addon"]

_PIPELINE_PLACE = 100  # early: what is dropped needs no further pipeline
_MIDDLEWARE_PLACE = 950  # near the spider: before the depth and the length of dropped links are counted


class Addon:
    """Switches on the item pipeline and the spider middleware, where the project does not place them itself."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add both to the project's components."""
        settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", NearDuplicatePipeline, _PIPELINE_PLACE)
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", NearDuplicateLinksMiddleware, _MIDDLEWARE_PLACE
        )
