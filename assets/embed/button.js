// A donate button: replaces a plain link to a nonprofit or a fundraiser with amounts to choose from.
// No dependencies and no cookies. A shadow root and a constructed style sheet work under a strict Content-Security-Policy.
(() => {
  'use strict';
  const texts = __TEXTS__;
  // This server accepts no donations: the plain link to the page remains.
  if (texts.off) return;
  const baseUrl = document.currentScript.src.replace(/\/[^/]+\/[^/]*$/, '');

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { display: block; max-width: 24rem; font: 1rem/1.4 system-ui, sans-serif; color-scheme: light;
      --ink: #20262b; --ground: #fff; --line: #7d7a70; __LIGHT__ }
    :host([data-scheme=dark]) { color-scheme: dark;
      --ink: #e9e6df; --ground: #1c2327; --line: #86908f; __DARK__ }
    @media (prefers-color-scheme: dark) { :host([data-scheme=auto]) { color-scheme: dark;
      --ink: #e9e6df; --ground: #1c2327; --line: #86908f; __DARK__ } }
    div { padding: 1rem; border: 1px solid var(--line); border-radius: .75rem; color: var(--ink); background: var(--ground); }
    p { margin: 0 0 .75rem; font-weight: 600; overflow-wrap: anywhere; }
    small { display: block; margin: 0 0 .75rem; }
    ul { display: flex; flex-wrap: wrap; gap: .5rem; margin: 0; padding: 0; list-style: none; }
    li { flex: 1 0 4.5rem; }
    li:last-child { flex-basis: 100%; }
    a { display: block; box-sizing: border-box; min-height: 2.75rem; padding: .6rem .75rem; border: 1px solid var(--line);
      border-radius: .5rem; color: inherit; text-align: center; text-decoration: none; }
    a:hover { border-color: var(--accent); }
    a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    dialog { box-sizing: border-box; width: min(30rem, 100% - 1rem); height: min(46rem, 100% - 1rem); max-width: none; max-height: none;
      padding: 0; border: 1px solid var(--line); border-radius: .75rem; color: var(--ink); background: var(--ground); overflow: hidden; }
    dialog::backdrop { background: rgb(0 0 0 / 55%); }
    dialog[open] { display: flex; flex-direction: column; }
    dialog button { align-self: end; min-width: 2.75rem; min-height: 2.75rem; padding: .25rem .75rem; border: 0; font: inherit;
      color: inherit; background: none; cursor: pointer; }
    dialog button:focus-visible { outline: 3px solid var(--accent); outline-offset: -4px; }
    iframe { flex: 1; width: 100%; border: 0; color-scheme: inherit; }
    li:last-child a { border-color: var(--accent); color: var(--on-accent); background: var(--accent); font-weight: 600; }
  `);

  // Only pages whose owner has proven their origin may show the form in a dialog. All others open it as a page.
  let answer;
  const mayUseDialog = () => answer ??= fetch(baseUrl + '/embed/origin', { credentials: 'omit' })
    .then(async (response) => response.ok && (await response.json()).dialog)
    .catch(() => false);

  const element = (name, text) => {
    const node = document.createElement(name);
    if (text) node.textContent = text;
    return node;
  };

  // What the page sets for every form that it opens, by the names of donate links.
  const options = {};
  const withOptions = (url, more) => {
    for (const [name, value] of Object.entries({ ...options, ...more })) url.searchParams.set(name, value);
    return url;
  };

  // The form of a page, with what the fragment of its URL fills in, such as `#/donate?amount=20`.
  const formUrl = (href) => {
    const url = new URL(href, baseUrl + '/');
    const filled = new URLSearchParams(url.hash.split('?')[1]);
    url.hash = '';
    if (!url.pathname.endsWith('/give')) url.pathname = url.pathname.replace(/\/$/, '') + '/give';
    for (const [name, value] of filled) url.searchParams.set(name, value);
    return url;
  };

  const tell = (name, url) => document.dispatchEvent(new CustomEvent('causeway-' + name, { detail: { url: String(url) } }));

  const openDialog = (root, title, url) => {
    const dialog = element('dialog'), close = element('button', texts.close + ' ✕'), frame = element('iframe');
    dialog.setAttribute('aria-label', title);
    close.type = 'button';
    close.addEventListener('click', () => dialog.close());
    frame.title = title;
    url.searchParams.set('embed', location.origin);
    frame.src = url;
    dialog.append(close, frame);
    dialog.addEventListener('close', () => {
      dialog.remove();
      tell('close', url);
    });
    root.append(dialog);
    dialog.showModal();
    tell('open', url);
  };

  const createRoot = (host) => {
    const root = host.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    return root;
  };

  // The interface for scripts of the page. The dialog needs a proven origin; without one, the form opens as a page.
  let shared;
  window.causeway = {
    setOptions: (more) => Object.assign(options, more),
    open: async (page, more) => {
      const url = withOptions(formUrl(page), more);
      if (!url.href.startsWith(baseUrl + '/')) throw new TypeError('causeway.open: not a page of ' + baseUrl);
      if (!await mayUseDialog()) return location.assign(url);
      if (!shared) {
        const host = element('div');
        document.body.append(host);
        shared = createRoot(host);
      }
      openDialog(shared, texts.give, url);
    },
  };

  const build = (link) => {
    link.dataset.causewayButton = 'done';
    if (!link.href.startsWith(baseUrl + '/')) return;
    const giveUrl = formUrl(link.href);
    const item = (text, amount) => {
      const url = new URL(giveUrl);
      if (amount) url.searchParams.set('amount', amount);
      const node = element('a', text);
      node.href = url;
      if (link.target) node.target = link.target;
      node.rel = 'noopener';
      const row = element('li');
      row.append(node);
      return row;
    };
    const requested = (link.dataset.amounts || '10,25,50').split(',').map((text) => text.trim());
    const amounts = requested.filter((text) => /^\d{1,9}(\.\d\d)?$/.test(text) && Number(text) > 0).slice(0, 6);
    const host = element('div');
    if (link.dataset.scheme) host.dataset.scheme = link.dataset.scheme;
    const root = createRoot(host);
    const group = element('div'), title = element('p', link.textContent.trim() || texts.give), list = element('ul');
    title.id = 'title';
    group.setAttribute('role', 'group');
    group.setAttribute('aria-labelledby', 'title');
    list.append(...amounts.map((amount) => item('$' + amount, amount)), item(texts.other));
    group.append(title, ...(texts.notice ? [element('small', texts.notice)] : []), list);
    root.append(group);
    list.addEventListener('click', (event) => {
      const chosen = event.target.closest('a');
      if (chosen) chosen.href = withOptions(new URL(chosen.href));
      const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
      if (!chosen || !isPlain || host.dataset.dialog !== 'ready') return;
      event.preventDefault();
      openDialog(root, title.textContent, new URL(chosen.href));
    });
    link.replaceWith(host);
    if ('dialog' in link.dataset) mayUseDialog().then((isAllowed) => { if (isAllowed) host.dataset.dialog = 'ready'; });
  };

  const all = () => {
    // If anything fails, the plain link remains.
    for (const link of document.querySelectorAll('a[data-causeway-button]:not([data-causeway-button=done])')) {
      try { build(link); } catch { link.dataset.causewayButton = 'done'; }
    }
  };
  all();
  document.addEventListener('DOMContentLoaded', all);
  document.dispatchEvent(new Event('causeway-ready'));
})();
