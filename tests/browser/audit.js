// What a page lacks for people who use a keyboard or a screen reader, or see little: a list of complaints.
() => {
  const problems = [];
  const name = e => (e.getAttribute('aria-label') || (e.labels && [...e.labels].map(l => l.textContent).join('')) || e.textContent || '').trim();
  for (const e of document.querySelectorAll('a, button, input:not([type=hidden]), textarea, select, summary, [tabindex="0"]'))
    if (!name(e) && !e.getAttribute('aria-labelledby')) problems.push('no name: ' + e.outerHTML.slice(0, 80));
  const levels = [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1]);
  if (levels[0] !== 1 || levels.filter(l => l === 1).length !== 1) problems.push('h1: ' + levels);
  levels.forEach((l, i) => { if (i && l > levels[i - 1] + 1) problems.push('heading skipped: ' + levels) });
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push('id twice: ' + id);
  for (const e of document.querySelectorAll('[aria-labelledby],[aria-describedby]'))
    for (const id of (e.getAttribute('aria-labelledby') || e.getAttribute('aria-describedby')).split(' '))
      if (!ids.includes(id)) problems.push('refers to nothing: ' + id);
  for (const e of document.querySelectorAll('a[href*="#"]'))
    { const id = e.getAttribute('href').split('#')[1]; if (id && !ids.includes(id)) problems.push('leads nowhere: #' + id); }
  for (const t of document.querySelectorAll('table')) {
    if (!t.caption) problems.push('table without a caption');
    for (const th of t.querySelectorAll('th')) if (!th.scope) problems.push('th without a scope');
    for (const tr of t.tBodies[0].rows) if (!tr.querySelector('th[scope=row]')) problems.push('row without a header');
  }
  if (!document.documentElement.lang) problems.push('no language');
  if (document.querySelectorAll('main').length !== 1) problems.push('main');
  if (!document.querySelector('header') || !document.querySelector('footer')) problems.push('landmarks');
  for (const n of document.querySelectorAll('nav, section')) if (!n.getAttribute('aria-label') && !n.getAttribute('aria-labelledby')) problems.push('unnamed ' + n.tagName);
  const regions = [...document.querySelectorAll('[role=region]')].map(name);
  for (const n of new Set(regions)) if (regions.indexOf(n) !== regions.lastIndexOf(n)) problems.push('region twice: ' + n);
  const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length === 3 ? [...m, 1] : m };
  const light = ([r, g, b]) => { const f = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b) };
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c } return matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0, 1] : [255, 255, 255, 1] };
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; n = walker.nextNode();) {
    if (!n.textContent.trim()) continue;
    const e = n.parentElement, s = getComputedStyle(e);
    const a = light(parse(s.color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    seen += 1;
    if (ratio < 4.5) problems.push('contrast ' + ratio.toFixed(2) + ': ' + n.textContent.trim().slice(0, 40));
  }
  if (!seen) problems.push('nothing to see');
  if (document.documentElement.scrollWidth > innerWidth) problems.push('wider than the window');
  return problems }
