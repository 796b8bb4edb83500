// A donate button: replaces a plain link to a nonprofit or a fundraiser with amounts to choose from.
// No dependencies and no cookies. A shadow root and a constructed style sheet work under a strict Content-Security-Policy.
(() => {
  'use strict';
  const texts = __TEXTS__;
  // This server accepts no donations: the plain link to the page remains.
  if (texts.off) return;
  const baseUrl = document.currentScript.src.replace(/\/embed\/[^/]*$/, '');

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { display: block; max-width: 24rem; font: 1rem/1.4 system-ui, sans-serif; color-scheme: light dark;
      --ink: #20262b; --ground: #fff; --line: #7d7a70; --strong: #0f5a6b; --on-strong: #fff; }
    :host([data-scheme=light]) { color-scheme: light; }
    :host([data-scheme=dark]) { color-scheme: dark;
      --ink: #e9e6df; --ground: #1c2327; --line: #86908f; --strong: #7cc5d4; --on-strong: #082a32; }
    @media (prefers-color-scheme: dark) { :host(:not([data-scheme=light])) {
      --ink: #e9e6df; --ground: #1c2327; --line: #86908f; --strong: #7cc5d4; --on-strong: #082a32; } }
    div { padding: 1rem; border: 1px solid var(--line); border-radius: .75rem; color: var(--ink); background: var(--ground); }
    p { margin: 0 0 .75rem; font-weight: 600; overflow-wrap: anywhere; }
    small { display: block; margin: 0 0 .75rem; }
    ul { display: flex; flex-wrap: wrap; gap: .5rem; margin: 0; padding: 0; list-style: none; }
    li { flex: 1 0 4.5rem; }
    li:last-child { flex-basis: 100%; }
    a { display: block; box-sizing: border-box; min-height: 2.75rem; padding: .6rem .75rem; border: 1px solid var(--line);
      border-radius: .5rem; color: inherit; text-align: center; text-decoration: none; }
    a:hover { border-color: var(--strong); }
    a:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; }
    dialog { box-sizing: border-box; width: min(30rem, 100% - 1rem); height: min(46rem, 100% - 1rem); max-width: none; max-height: none;
      padding: 0; border: 1px solid var(--line); border-radius: .75rem; color: var(--ink); background: var(--ground); overflow: hidden; }
    dialog::backdrop { background: rgb(0 0 0 / 55%); }
    dialog[open] { display: flex; flex-direction: column; }
    dialog button { align-self: end; min-width: 2.75rem; min-height: 2.75rem; padding: .25rem .75rem; border: 0; font: inherit;
      color: inherit; background: none; cursor: pointer; }
    dialog button:focus-visible { outline: 3px solid var(--strong); outline-offset: -4px; }
    iframe { flex: 1; width: 100%; border: 0; color-scheme: inherit; }
    li:last-child a { border-color: var(--strong); color: var(--on-strong); background: var(--strong); font-weight: 600; }
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

  const openDialog = (root, title, url) => {
    const dialog = element('dialog'), close = element('button', texts.close + ' ✕'), frame = element('iframe');
    dialog.setAttribute('aria-label', title);
    close.type = 'button';
    close.addEventListener('click', () => dialog.close());
    frame.title = title;
    url.searchParams.set('embed', location.origin);
    frame.src = url;
    dialog.append(close, frame);
    dialog.addEventListener('close', () => dialog.remove());
    root.append(dialog);
    dialog.showModal();
  };

  const build = (link) => {
    const giveUrl = new URL(link.href);
    link.dataset.causewayButton = 'done';
    if (!link.href.startsWith(baseUrl + '/')) return;
    if (!giveUrl.pathname.endsWith('/give')) giveUrl.pathname = giveUrl.pathname.replace(/\/$/, '') + '/give';
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
    const root = host.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    const group = element('div'), title = element('p', link.textContent.trim() || texts.give), list = element('ul');
    title.id = 'title';
    group.setAttribute('role', 'group');
    group.setAttribute('aria-labelledby', 'title');
    list.append(...amounts.map((amount) => item('$' + amount, amount)), item(texts.other));
    group.append(title, ...(texts.notice ? [element('small', texts.notice)] : []), list);
    root.append(group);
    list.addEventListener('click', (event) => {
      const chosen = event.target.closest('a');
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
})();
