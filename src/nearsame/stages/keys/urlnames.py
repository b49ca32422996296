"""Names in URLs that say nothing about the page: default documents, sessions, where a visitor came from.

A change of these lists is a new version of `CanonicalUrl.lists`.
"""

__all__ = ["DOCUMENTS", "MAYBE_SESSIONS", "SESSIONS", "TRACKING"]

# What a server sends for the folder itself, without regard to case; index.xml is none, but often a feed beside it.
DOCUMENTS = frozenset(
    f"{name}.{suffix}"
    for name in ("index", "default")
    for suffix in (
        "asp", "aspx", "cfm", "cgi", "htm", "html", "jhtml", "jsp", "php", "php3", "php4", "php5", "phtml", "pl",
        "shtm", "shtml", "xhtml",
    )
)  # fmt: skip

# Parameters that hold a session whatever their value is; `*` stands for anything.
SESSIONS = (
    "aspsessionid*", "asp.net_sessionid", "cfid", "cftoken", "jsessionid", "oscsid", "phpsessid", "xtcsid", "zenid",
)  # fmt: skip

# Parameters that hold a session where the value looks like one; a story or a shop's shelf is called so, too.
MAYBE_SESSIONS = ("s", "sess", "sessid", "session", "session_id", "sessionid", "sid")

# Parameters of advertisers, newsletters and counters of visitors, by their own documentation.
TRACKING = (
    "_branch_match_id", "_bta_c", "_bta_tid", "_ga", "_gl", "_hsenc", "_hsmi", "_ke", "_kx", "_openstat",
    "at_campaign", "at_custom*", "at_medium", "bsft_clkid", "bsft_uid", "cmpid", "dclid", "ef_id", "epik",
    "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "fbclid", "gad_campaignid", "gad_source", "gbraid",
    "gclid", "gclsrc", "guccounter", "guce_referrer", "guce_referrer_sig", "hsa_*", "hsctatracking", "igsh", "igshid",
    "irclickid", "li_fat_id", "matomo_*", "mc_cid", "mc_eid", "mibextid", "mkt_tok", "msclkid", "mtm_*", "ncid",
    "oly_anon_id", "oly_enc_id", "piwik_*", "pk_campaign", "pk_keyword", "pk_kwd", "rb_clickid", "s_cid",
    "s_kwcid", "spm", "srsltid", "trk_*", "ttclid", "twclid", "utm_*", "vero_conv", "vero_id", "wbraid", "wickedid",
    "wt.mc_ev", "wt.mc_id", "xtor", "yclid", "ysclid",
)  # fmt: skip
