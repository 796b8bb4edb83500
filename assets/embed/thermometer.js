// A fundraiser thermometer: replaces a plain link to a fundraiser with how much it has raised.
// No dependencies and no cookies. A shadow root and a constructed style sheet work under a strict Content-Security-Policy.
(() => {
  'use strict';
  const texts = __TEXTS__;
  const baseUrl = document.currentScript.src.replace(/\/[^/]+\/[^/]*$/, '');

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { display: block; max-width: 24rem; font: 1rem/1.4 system-ui, sans-serif; color-scheme: light;
      --ink: #20262b; --soft: #515a61; --ground: #fff; --line: #7d7a70; __LIGHT__ }
    :host([data-scheme=dark]) { color-scheme: dark;
      --ink: #e9e6df; --soft: #b3b5b1; --ground: #1c2327; --line: #86908f; __DARK__ }
    @media (prefers-color-scheme: dark) { :host([data-scheme=auto]) { color-scheme: dark;
      --ink: #e9e6df; --soft: #b3b5b1; --ground: #1c2327; --line: #86908f; __DARK__ } }
    section { padding: 1rem; border: 1px solid var(--line); border-radius: .75rem; color: var(--ink); background: var(--ground); }
    p { margin: 0 0 .5rem; overflow-wrap: anywhere; }
    .title { font-weight: 600; }
    .title a { color: inherit; }
    .raised { font-size: 1.5rem; font-weight: 700; }
    .raised span, .supporters { color: var(--soft); font-size: 1rem; font-weight: 400; }
    svg { display: block; width: 100%; height: .75rem; margin: 0 0 .5rem; border-radius: 99px; }
    .track { fill: var(--accent-soft); }
    .fill { fill: var(--accent); }
    .give { display: block; box-sizing: border-box; min-height: 2.75rem; padding: .6rem .75rem; border-radius: .5rem;
      color: var(--on-accent); background: var(--accent); font-weight: 600; text-align: center; text-decoration: none; }
    a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
  `);

  const element = (name, attributes, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const drawing = (name, attributes) => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };

  const build = async (link) => {
    link.dataset.causewayThermometer = 'done';
    const url = new URL(link.href);
    const path = url.href.startsWith(baseUrl + '/') && /\/([^/]+)\/f\/([^/]+)\/?$/.exec(url.pathname);
    if (!path) return;
    const response = await fetch(`${baseUrl}/embed/fundraisers/${path[1]}/${path[2]}`, { credentials: 'omit' });
    if (!response.ok) return;
    const fundraiser = await response.json();
    const host = element('div', {});
    if (link.dataset.scheme) host.dataset.scheme = link.dataset.scheme;
    const root = host.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    const anchor = (attributes, text, href) => {
      const node = element('a', { ...attributes, href, rel: 'noopener' }, text);
      if (link.target) node.target = link.target;
      return node;
    };
    const bar = drawing('svg', { viewBox: '0 0 100 4', preserveAspectRatio: 'none', role: 'img',
      'aria-label': `${texts.label}: ${fundraiser.percent}%` });
    bar.append(drawing('rect', { class: 'track', width: 100, height: 4 }), drawing('rect', { class: 'fill', width: fundraiser.percent, height: 4 }));
    const give = new URL(url);
    give.pathname = give.pathname.replace(/\/$/, '') + '/give';
    root.append(element('section', { 'aria-labelledby': 'title' },
      element('p', { id: 'title', class: 'title' }, anchor({}, fundraiser.title, url)),
      element('p', { class: 'raised' }, fundraiser.raised + ' ', element('span', {}, fundraiser.ofGoal)),
      bar,
      element('p', { class: 'supporters' }, [fundraiser.supporters, fundraiser.notice].filter(Boolean).join(' · ')),
      ...(fundraiser.isOpen ? [anchor({ class: 'give' }, texts.give, give)] : [])));
    link.replaceWith(host);
  };

  const all = () => {
    for (const link of document.querySelectorAll('a[data-causeway-thermometer]:not([data-causeway-thermometer=done])')) {
      // If anything fails, the plain link remains.
      build(link).catch(() => {});
    }
  };
  all();
  document.addEventListener('DOMContentLoaded', all);
})();
