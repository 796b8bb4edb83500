// Live search results: turns the search field into a combobox. Without this script, the plain form works.
'use strict';

// The titles of causes; results have their names. Until they are loaded, results show no causes.
let titles = {}, loading;
const loadTitles = () => loading ??= fetch('/embed/causes.json')
  .then(async (response) => { titles = await response.json(); })
  .catch(() => {});

for (const input of document.querySelectorAll('input[data-live]')) {
  const list = document.createElement('ul');
  list.id = 'hits-live';
  list.className = 'live';
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', input.dataset.list);
  const status = document.createElement('p');
  status.className = 'unseen';
  status.setAttribute('role', 'status');
  input.after(list, status);
  for (const [name, value] of Object.entries({
    role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': list.id, 'aria-expanded': 'false',
  })) input.setAttribute(name, value);

  let pending, selected = -1, isDismissed = false, statusTimer;

  const open = (isOpen) => {
    list.hidden = !isOpen;
    input.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen) choose(-1);
  };

  const choose = (index) => {
    const options = list.children;
    options[selected]?.setAttribute('aria-selected', 'false');
    selected = index;
    const option = options[selected];
    if (!option) return input.removeAttribute('aria-activedescendant');
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', option.id);
  };

  const element = (name, text, classes) => {
    const node = document.createElement(name);
    node.textContent = text;
    if (classes) node.className = classes;
    return node;
  };

  const row = (nonprofit, index) => {
    const option = document.createElement('li');
    option.id = 'hit-' + index;
    option.dataset.slug = nonprofit.slug;
    option.setAttribute('role', 'option');
    option.setAttribute('aria-selected', 'false');
    const logo = document.createElement('img');
    logo.src = '/media/' + nonprofit.logoHostedId;
    logo.alt = '';
    logo.width = logo.height = 40;
    const text = document.createElement('div');
    text.append(element('strong', nonprofit.name));
    const describe = () => [nonprofit.location, ...nonprofit.tags.slice(0, 2).map((tag) => titles[tag])].filter(Boolean).join(' · ');
    const about = element('span', describe(), 'small soft');
    loadTitles().then(() => { about.textContent = describe(); });
    text.append(about);
    option.append(logo, text);
    return option;
  };

  const show = (nonprofits) => {
    list.replaceChildren(...nonprofits.map(row));
    selected = -1;
    input.removeAttribute('aria-activedescendant');
    // Keep the list closed if the user pressed Escape or left the field.
    open(nonprofits.length > 0 && !isDismissed && document.activeElement === input);
    // Announce the number of results to screen readers when the typing pauses.
    clearTimeout(statusTimer);
    statusTimer = setTimeout(() => {
      const { none, one, many } = input.dataset;
      status.textContent = [none, one][nonprofits.length] ?? many.replace('{count}', nonprofits.length);
    }, 400);
  };

  input.addEventListener('input', async () => {
    // Nobody waits for the results of what was typed before.
    pending?.abort();
    const { signal } = pending = new AbortController();
    isDismissed = false;
    const text = input.value.trim();
    if (!text) { status.textContent = ''; list.replaceChildren(); return open(false); }
    try {
      const response = await fetch(input.dataset.live + '?q=' + encodeURIComponent(text), { signal });
      if (!response.ok) return;
      const { nonprofits } = await response.json();
      if (!signal.aborted) show(nonprofits);
    } catch { /* The form still works. */ }
  });

  const go = (option) => { location.href = '/' + option.dataset.slug; };

  input.addEventListener('keydown', (event) => {
    const count = list.children.length;
    if (event.key === 'Escape') { isDismissed = true; if (!list.hidden) { event.preventDefault(); open(false); } }
    else if (event.key === 'ArrowDown' && count) { event.preventDefault(); if (list.hidden) open(true); choose((selected + 1) % count); }
    else if (event.key === 'ArrowUp' && count && !list.hidden) { event.preventDefault(); choose(selected <= 0 ? count - 1 : selected - 1); }
    else if (event.key === 'Enter' && selected >= 0 && !list.hidden) { event.preventDefault(); go(list.children[selected]); }
  });
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('click', (event) => {
    const option = event.target.closest('[role=option]');
    if (option) go(option);
  });
  input.addEventListener('blur', () => open(false));
  input.addEventListener('focus', () => { loadTitles(); if (list.children.length && input.value.trim()) open(true); });
}

// Near me: the browser asks the visitor for consent, and only after a click. Two decimals are enough, about a mile.
for (const button of document.querySelectorAll('button[data-near]')) {
  if (!navigator.geolocation) continue;
  const input = document.getElementById(button.dataset.near);
  const status = document.createElement('p');
  status.className = 'small soft';
  status.setAttribute('role', 'status');
  button.parentElement.after(status);
  button.hidden = false;
  let isWaiting = false;
  const end = (text) => { isWaiting = false; status.textContent = text; };
  button.addEventListener('click', () => {
    if (isWaiting) return;
    isWaiting = true;
    status.textContent = button.dataset.waiting;
    navigator.geolocation.getCurrentPosition(({ coords }) => {
      end('');
      input.value = coords.latitude.toFixed(2) + ',' + coords.longitude.toFixed(2);
      input.form.requestSubmit();
    }, () => end(button.dataset.failed), { maximumAge: 600_000, timeout: 20_000 });
  });
}
