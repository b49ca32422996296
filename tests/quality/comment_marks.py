"""Thirty ways in which sites mark what readers say below an article.

1. Names of classes and ids are those that publishing systems and comment services write; texts and pages are made.
2. A way is a function of comments, each a name and a text; what stands around the article is one of three layouts.
"""

from collections.abc import Callable, Iterator, Sequence

from tests.quality.page_kinds import LAYOUTS, Page, Writer

__all__ = ["BODIES", "MARKS", "commented"]

Comment = tuple[str, str]


def _each(pattern: str, around: str = "{}") -> Callable[[Sequence[Comment]], str]:
    """One pattern for each comment, with `{name}`, `{text}` and `{number}`, inside another."""

    def marked(comments: Sequence[Comment]) -> str:
        said = (pattern.format(name=name, text=text, number=number) for number, (name, text) in enumerate(comments, 1))
        return around.replace("{}", "".join(said))

    return marked


_REPLY = "<form action='/say'><textarea name='text'></textarea><input type='submit' value='Send'></form>"

MARKS: dict[str, Callable[[Sequence[Comment]], str]] = {
    "none": lambda _: "",
    "WordPress": _each(
        "<li id='comment-{number}' class='comment even thread-even depth-1'>"
        "<article id='div-comment-{number}' class='comment-body'>"
        "<footer class='comment-meta'><div class='comment-author vcard'><b class='fn'>{name}</b> says:"
        "</div></footer>"
        "<div class='comment-content'><p>{text}</p></div><div class='reply'>"
        "<a class='comment-reply-link'>Reply</a></div></article></li>",
        "<div id='comments' class='comments-area'><h2 class='comments-title'>Thoughts</h2>"
        "<ol class='comment-list'>{}</ol>"
        f"<div id='respond' class='comment-respond'>{_REPLY}</div></div>",
    ),
    "WordPress, old": _each(
        "<li class='alt' id='comment-{number}'><cite>{name}</cite> Says:<br><p>{text}</p></li>",
        "<h3 id='comments'>Responses</h3><ol class='commentlist'>{}</ol><h3 id='respond'>Leave a Reply</h3>" + _REPLY,
    ),
    "WordPress, blocks": _each(
        "<li><div class='wp-block-comment-author-name'>{name}</div><div class='wp-block-comment-content'>"
        "<p>{text}</p></div></li>",
        "<div class='wp-block-comments'><ol class='wp-block-comment-template'>{}</ol></div>",
    ),
    "Blogger": _each(
        "<li class='comment' id='c{number}'><div class='comment-block'><div class='comment-header'>"
        "<cite class='user'>{name}</cite></div>"
        "<p class='comment-content'>{text}</p></div></li>",
        "<section class='comments' id='comments'><div class='comment-thread'><ol>{}</ol></div></section>",
    ),
    "Blogger, old": _each(
        "<dt class='comment-author' id='c{number}'>{name} said...</dt><dd class='comment-body'><p>{text}</p></dd>",
        "<div id='comments'><h4>Comments:</h4><dl id='comments-block'>{}</dl></div>",
    ),
    "Drupal": _each(
        "<article class='comment clearfix'><header><p class='comment__submitted'>{name}</p></header>"
        "<div class='content'>"
        "<div class='field field-name-comment-body'><p>{text}</p></div></div></article>",
        "<section id='comments' class='comment-wrapper'><h2 class='title'>Comments</h2>{}</section>",
    ),
    "Joomla": _each(
        "<div class='comment-box' id='comment-item-{number}'><span class='comment-author'>{name}</span>"
        "<div class='comment-body'>{text}</div></div>",
        "<div id='jc'><div id='comments'><div class='comments-list' id='comments-list'>{}</div></div></div>",
    ),
    "TYPO3": _each(
        "<div class='tx-comments-comment'><p class='tx-comments-name'>{name}</p>"
        "<p class='tx-comments-text'>{text}</p></div>",
        "<div class='tx-comments-pi1'>{}</div>",
    ),
    "TypePad": _each(
        "<div class='comment comment-odd' id='comment-{number}'><div class='comment-content'><p>{text}</p></div>"
        "<p class='comment-footer'>Posted by: {name}</p></div>",
        "<div class='comments-content' id='comments-content'>{}</div>",
    ),
    "Movable Type": _each(
        "<div class='comment' id='comment-{number}'><div class='inner'><div class='comment-header'>"
        "<b>{name}</b></div>"
        "<div class='comment-content'><p>{text}</p></div></div></div>",
        "<div id='comments' class='comments'><div class='comments-content'>{}</div></div>",
    ),
    "Disqus": _each(
        "<li class='post' id='post-{number}'><div class='post-content'><span class='author'>{name}</span>"
        "<div class='post-message'><p>{text}</p></div></div></li>",
        "<div id='disqus_thread'><ul class='post-list' id='post-list'>{}</ul></div>"
        "<noscript>Please enable JavaScript to view the comments powered by Disqus.</noscript>",
    ),
    "Disqus, without scripts": _each(
        "<li id='dsq-comment-{number}'><div class='dsq-comment-header'><cite>{name}</cite></div>"
        "<div class='dsq-comment-message'><p>{text}</p></div></li>",
        "<div id='disqus_thread'><div id='dsq-content'><ul id='dsq-comments'>{}</ul></div></div>",
    ),
    "Livefyre": _each(
        "<article class='fyre-comment-article'><div class='fyre-comment-head'>{name}</div>"
        "<div class='fyre-comment'><p>{text}</p></div></article>",
        "<div id='livefyre-comments'><div class='fyre-widget'>{}</div></div>",
    ),
    "Isso": _each(
        "<div class='isso-comment' id='isso-{number}'><div class='isso-text-wrapper'>"
        "<span class='isso-author'>{name}</span>"
        "<div class='isso-text'><p>{text}</p></div></div></div>",
        "<section id='isso-thread'>{}</section>",
    ),
    "Commento": _each(
        "<div class='commento-card' id='commento-comment-card-{number}'><div class='commento-name'>{name}</div>"
        "<div class='commento-body'><p>{text}</p></div></div>",
        "<div id='commento'><div class='commento-main-area'>{}</div></div>",
    ),
    "Coral": _each(
        "<div class='coral coral-comment'><span class='coral-username'>{name}</span>"
        "<div class='coral-comment-content'>{text}</div></div>",
        "<div id='coral_thread' class='coral-stream'>{}</div>",
    ),
    "Spot.IM": _each(
        "<li class='spcv_list-item'><span class='spcv_username'>{name}</span>"
        "<div class='spcv_messageContent'><p>{text}</p></div></li>",
        "<div class='spotim-conversation' data-spotim-module='conversation'><ul>{}</ul></div>",
    ),
    "Squarespace": _each(
        "<div class='comment' id='comment-{number}'><div class='comment-header'>{name}</div>"
        "<div class='comment-body'><p>{text}</p></div></div>",
        "<div class='squarespace-comments' id='comments-1'><div class='comment-list'>{}</div></div>",
    ),
    "microdata": _each(
        "<div itemprop='comment' itemscope itemtype='https://schema.org/Comment'>"
        "<span itemprop='author'>{name}</span>"
        "<p itemprop='text'>{text}</p></div>",
        "<section>{}</section>",
    ),
    "microdata, old": _each(
        "<li itemscope itemtype='http://schema.org/UserComments' itemprop='comment'>"
        "<b itemprop='creator'>{name}</b>"
        "<div itemprop='commentText'><p>{text}</p></div></li>",
        "<ul>{}</ul>",
    ),
    "news": _each(
        "<div class='reader-comment'><h4>{name}</h4><p>{text}</p></div>", "<div class='reader-comments'>{}</div>"
    ),
    "news, section": _each(
        "<div class='comments__item'><b>{name}</b><p>{text}</p></div>",
        "<section class='article-comments comments-section'>{}</section>",
    ),
    "news, camel case": _each(
        "<div class='commentItem'><b>{name}</b><p>{text}</p></div>", "<div id='commentSection'>{}</div>"
    ),
    "user comments": _each(
        "<li class='user-comment'><strong>{name}</strong><p>{text}</p></li>", "<ul id='user-comments'>{}</ul>"
    ),
    "talkback": _each("<div class='talkback-item'><b>{name}</b><p>{text}</p></div>", "<div id='talkback'>{}</div>"),
    "German": _each("<div class='kommentar'><b>{name}</b><p>{text}</p></div>", "<div id='kommentare'>{}</div>"),
    "French": _each("<li class='commentaire'><b>{name}</b><p>{text}</p></li>", "<ol id='commentaires'>{}</ol>"),
    "Spanish": _each("<div class='comentario'><b>{name}</b><p>{text}</p></div>", "<div id='comentarios'>{}</div>"),
    "unmarked": _each("<p><b>{name}:</b> {text}</p>", "<h3>Comments</h3>{}"),
}


BODIES = (
    "<article><h1>{title}</h1>{body}</article>",
    "<div class='post'><h1>{title}</h1><div class='entry-content'>{body}</div></div>",
    "<h1>{title}</h1>{body}",
)


def commented(num_articles: int, num_comments: int = 12) -> Iterator[Page]:
    """Each article with the comments of every site, which are other ones everywhere."""
    for number in range(num_articles):
        text = Writer(f"commented {number}")
        title, body = text.title(), text.paragraphs(6)
        for site, (name, marked) in enumerate(MARKS.items()):
            guests = Writer(f"guests {number} {site}")
            said = marked([(guests.title(1), guests.text(25)) for _ in range(num_comments)])
            content = BODIES[(site + number) % len(BODIES)].format(title=title, body=body) + said
            layout = LAYOUTS[(site + number // len(BODIES)) % len(LAYOUTS)]
            yield Page(name, f"{number}", layout(Writer(f"site {name}"), title, content))
