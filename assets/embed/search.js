// A search box with live results: replaces a plain link to the search page.
// No dependencies and no cookies. A shadow root and a constructed style sheet work under a strict Content-Security-Policy.
(() => {
  'use strict';
  const texts = __TEXTS__;
  const baseUrl = document.currentScript.src.replace(/\/[^/]+\/[^/]*$/, '');

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { display: block; max-width: 32rem; font: 1rem/1.4 system-ui, sans-serif; color-scheme: light;
      --ink: #20262b; --soft: #515a61; --ground: #fff; --line: #7d7a70; __LIGHT__ }
    :host([data-scheme=dark]) { color-scheme: dark;
      --ink: #e9e6df; --soft: #b3b5b1; --ground: #1c2327; --line: #86908f; __DARK__ }
    @media (prefers-color-scheme: dark) { :host([data-scheme=auto]) { color-scheme: dark;
      --ink: #e9e6df; --soft: #b3b5b1; --ground: #1c2327; --line: #86908f; __DARK__ } }
    form { position: relative; display: flex; flex-wrap: wrap; gap: .5rem; padding: 1rem; border: 1px solid var(--line);
      border-radius: .75rem; color: var(--ink); background: var(--ground); }
    label { flex-basis: 100%; font-weight: 600; }
    input, button { box-sizing: border-box; min-height: 2.75rem; padding: .5rem .75rem; border: 1px solid var(--line);
      border-radius: .5rem; font: inherit; color: var(--ink); background: var(--ground); }
    input { flex: 1; min-width: 0; }
    button { border-color: var(--accent); color: var(--on-accent); background: var(--accent); font-weight: 600; cursor: pointer; }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    ul { position: absolute; z-index: 9; top: 100%; inset-inline: 0; max-height: 24rem; overflow-y: auto; margin: .25rem 0 0;
      padding: .25rem; border: 1px solid var(--line); border-radius: .5rem; list-style: none; background: var(--ground); }
    [hidden] { display: none; }
    li { display: flex; gap: .75rem; align-items: center; padding: .5rem; border-radius: .35rem; cursor: pointer; }
    li:hover, li[aria-selected=true] { background: var(--accent-soft); }
    li img { flex: none; width: 2.5rem; height: 2.5rem; border-radius: .35rem; object-fit: cover; }
    li strong, li span { display: block; overflow-wrap: anywhere; }
    li span { color: var(--soft); font-size: .875rem; }
    p { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
  `);

  const element = (name, attributes, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };

  // The titles of causes; results have their names. Until they are loaded, results show no causes.
  let titles = {}, loading;
  const loadTitles = () => loading ??= fetch(baseUrl + '/embed/causes.json', { credentials: 'omit' })
    .then(async (response) => { titles = await response.json(); })
    .catch(() => {});

  const build = (link) => {
    const target = new URL(link.href), { key, causes, scheme } = link.dataset;
    link.dataset.causewaySearch = 'done';
    if (!key || !link.href.startsWith(baseUrl + '/')) return;
    const host = element('div', {});
    if (scheme) host.dataset.scheme = scheme;
    const root = host.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet];
    const list = element('ul', { id: 'list', role: 'listbox', 'aria-label': texts.list, hidden: '' });
    const status = element('p', { role: 'status' });
    const input = element('input', {
      id: 'input', type: 'search', role: 'combobox', autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', maxlength: '256',
      'aria-autocomplete': 'list', 'aria-controls': 'list', 'aria-expanded': 'false',
    });
    const label = element('label', { for: 'input' }, link.textContent.trim() || texts.label);
    const form = element('form', { role: 'search' }, label, input, element('button', {}, texts.submit), list, status);
    root.append(form);
    link.replaceWith(host);

    let pending, selected = -1, hits = [], statusTimer;

    const choose = (index) => {
      list.children[selected]?.setAttribute('aria-selected', 'false');
      selected = index;
      const option = list.children[selected];
      if (!option) return input.removeAttribute('aria-activedescendant');
      option.setAttribute('aria-selected', 'true');
      option.scrollIntoView({ block: 'nearest' });
      input.setAttribute('aria-activedescendant', option.id);
    };
    const open = (isOpen) => {
      list.hidden = !isOpen;
      input.setAttribute('aria-expanded', String(isOpen));
      if (!isOpen) choose(-1);
    };
    const row = (hit, index) => {
      const logo = element('img', { alt: '', src: hit.logoUrl, loading: 'lazy' });
      // Show only the name if the policy of the page blocks our pictures.
      logo.addEventListener('error', () => logo.remove());
      const describe = () => [hit.location, ...hit.tags.slice(0, 2).map((tag) => titles[tag])].filter(Boolean).join(' · ');
      const about = element('span', {}, describe());
      loadTitles().then(() => { about.textContent = describe(); });
      const text = element('div', {}, element('strong', {}, hit.name), about);
      return element('li', { id: 'hit-' + index, role: 'option', 'aria-selected': 'false' }, logo, text);
    };
    const show = (nonprofits) => {
      hits = nonprofits;
      choose(-1);
      list.replaceChildren(...hits.map(row));
      open(hits.length > 0);
      // Announce the number of results to screen readers when the typing pauses.
      clearTimeout(statusTimer);
      statusTimer = setTimeout(() => {
        status.textContent = [texts.none, texts.one][hits.length] ?? texts.many.replace('{count}', hits.length);
      }, 400);
    };
    const go = (hit) => {
      // A page can handle the choice itself: it listens for the event and calls preventDefault.
      const detail = { id: hit.id, ein: hit.ein, name: hit.name, slug: hit.slug, profileUrl: hit.profileUrl };
      const event = new CustomEvent('causeway-choose', { detail, bubbles: true, composed: true, cancelable: true });
      open(false);
      if (host.dispatchEvent(event)) location.assign(baseUrl + '/' + encodeURIComponent(hit.slug) + target.search);
      else input.value = hit.name;
    };

    input.addEventListener('input', async () => {
      // Nobody waits for the results of what was typed before.
      pending?.abort();
      const { signal } = pending = new AbortController(), text = input.value.trim();
      if (!text) { status.textContent = ''; hits = []; list.replaceChildren(); return open(false); }
      const query = new URLSearchParams({ apiKey: key, take: 8 });
      if (causes) query.set('causes', causes);
      try {
        const response = await fetch(baseUrl + '/v0.2/search/' + encodeURIComponent(text) + '?' + query, { credentials: 'omit', signal });
        if (!response.ok) return;
        const { nonprofits } = await response.json();
        if (!signal.aborted) show(nonprofits);
      } catch { /* The search page still works. */ }
    });
    input.addEventListener('keydown', (event) => {
      const count = hits.length, isOpen = !list.hidden;
      if (event.key === 'Escape' && isOpen) { event.preventDefault(); open(false); }
      else if (event.key === 'ArrowDown' && count) { event.preventDefault(); open(true); choose((selected + 1) % count); }
      else if (event.key === 'ArrowUp' && isOpen) { event.preventDefault(); choose(selected <= 0 ? count - 1 : selected - 1); }
      else if (event.key === 'Enter' && selected >= 0 && isOpen) { event.preventDefault(); go(hits[selected]); }
    });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      location.assign(baseUrl + '/search?q=' + encodeURIComponent(input.value.trim()));
    });
    list.addEventListener('mousedown', (event) => event.preventDefault());
    list.addEventListener('click', (event) => {
      const option = event.target.closest('[role=option]');
      if (option) go(hits[Array.prototype.indexOf.call(list.children, option)]);
    });
    input.addEventListener('blur', () => open(false));
    input.addEventListener('focus', () => { if (hits.length) open(true); });
  };

  const all = () => {
    // If anything fails, the plain link remains.
    for (const link of document.querySelectorAll('a[data-causeway-search]:not([data-causeway-search=done])')) {
      try { build(link); } catch { link.dataset.causewaySearch = 'done'; }
    }
  };
  all();
  document.addEventListener('DOMContentLoaded', all);
})();
