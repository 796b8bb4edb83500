// Answers while somebody types: a combobox over the search field. Without it, the form is a form.
'use strict';

for (const input of document.querySelectorAll('input[data-live]')) {
  const list = document.createElement('ul');
  list.id = 'hits-live';
  list.className = 'live';
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', input.dataset.list);
  const said = document.createElement('p');
  said.className = 'unseen';
  said.setAttribute('role', 'status');
  input.after(list, said);
  for (const [name, value] of Object.entries({
    role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': list.id, 'aria-expanded': 'false',
  })) input.setAttribute(name, value);

  let asked = 0, shown = 0, at = -1, isLeft = false, saying;

  const open = (isOpen) => {
    list.hidden = !isOpen;
    input.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen) choose(-1);
  };

  const choose = (place) => {
    const options = list.children;
    options[at]?.setAttribute('aria-selected', 'false');
    at = place;
    const option = options[at];
    if (!option) return input.removeAttribute('aria-activedescendant');
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', option.id);
  };

  const element = (name, text, classes) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (classes) made.className = classes;
    return made;
  };

  const row = (nonprofit, place) => {
    const option = document.createElement('li');
    option.id = 'hit-' + place;
    option.dataset.slug = nonprofit.slug;
    option.setAttribute('role', 'option');
    option.setAttribute('aria-selected', 'false');
    const logo = document.createElement('img');
    logo.src = '/media/' + nonprofit.logoHostedId;
    logo.alt = '';
    logo.width = logo.height = 40;
    const text = document.createElement('div');
    text.append(element('strong', nonprofit.name));
    const about = [nonprofit.location, ...nonprofit.tags.slice(0, 2)].filter(Boolean).join(' · ');
    text.append(element('span', about, 'small soft'));
    option.append(logo, text);
    return option;
  };

  const show = (nonprofits) => {
    list.replaceChildren(...nonprofits.map(row));
    at = -1;
    input.removeAttribute('aria-activedescendant');
    // Nothing opens for somebody who has pressed Escape or gone on.
    open(nonprofits.length > 0 && !isLeft && document.activeElement === input);
    // A screen reader is told once the typing rests.
    clearTimeout(saying);
    saying = setTimeout(() => {
      const { none, one, many } = input.dataset;
      said.textContent = [none, one][nonprofits.length] ?? many.replace('{count}', nonprofits.length);
    }, 400);
  };

  input.addEventListener('input', async () => {
    const number = ++asked;
    isLeft = false;
    const text = input.value.trim();
    if (!text) { shown = number; said.textContent = ''; return open(false); }
    try {
      const answer = await fetch(input.dataset.live + '?q=' + encodeURIComponent(text));
      if (!answer.ok) return;
      const { nonprofits } = await answer.json();
      // An answer that comes after a newer one is old news.
      if (number <= shown) return;
      shown = number;
      show(nonprofits);
    } catch { /* The form still works. */ }
  });

  const go = (option) => { location.href = '/' + option.dataset.slug; };

  input.addEventListener('keydown', (event) => {
    const count = list.children.length;
    if (event.key === 'Escape') { isLeft = true; if (!list.hidden) { event.preventDefault(); open(false); } }
    else if (event.key === 'ArrowDown' && count) { event.preventDefault(); if (list.hidden) open(true); choose((at + 1) % count); }
    else if (event.key === 'ArrowUp' && count && !list.hidden) { event.preventDefault(); choose(at <= 0 ? count - 1 : at - 1); }
    else if (event.key === 'Enter' && at >= 0 && !list.hidden) { event.preventDefault(); go(list.children[at]); }
  });
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('click', (event) => {
    const option = event.target.closest('[role=option]');
    if (option) go(option);
  });
  input.addEventListener('blur', () => open(false));
  input.addEventListener('focus', () => { if (list.children.length && input.value.trim()) open(true); });
}
