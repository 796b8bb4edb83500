// The documentation: remembers the language of samples, and sends the requests of the console.
'use strict';

// Shows all samples in the language that was chosen last.
const STORED = 'causeway-language';
const choose = (language) => {
  // A sample that does not exist in this language keeps showing another one.
  for (const radio of document.querySelectorAll(`[data-sample] input[value="${CSS.escape(language)}"]`)) radio.checked = true;
};
try {
  const language = localStorage.getItem(STORED);
  if (language && document.querySelector(`[data-sample] input[value="${CSS.escape(language)}"]`)) choose(language);
} catch { /* The browser stores nothing for this page. */ }
document.addEventListener('change', ({ target }) => {
  const sample = target.closest('[data-sample]');
  if (!sample) return;
  // The samples above can change their height: keep the one that was used where it is.
  const before = sample.getBoundingClientRect().top;
  choose(target.value);
  scrollBy(0, sample.getBoundingClientRect().top - before);
  try { localStorage.setItem(STORED, target.value); } catch { /* Only this page remembers. */ }
});

// Sends the request that the form describes, and shows request and response.
const form = document.querySelector('[data-console]');
form?.addEventListener('submit', async (event) => {
  event.preventDefault();
  const answer = document.querySelector('[data-answer]');
  const show = (name, text) => { answer.querySelector(`[data-${name}]`).textContent = text; };
  const { method, path, left, failed, took, sending } = form.dataset;
  const publicKey = form.elements.apiKey.value.trim();
  const privateKey = document.getElementById('privateKey');
  const body = document.getElementById('body-json');

  let target = path;
  const query = new URLSearchParams();
  const headers = {};
  for (const field of form.querySelectorAll('[data-place]')) {
    const { name, value } = field;
    if (field.dataset.place === 'path') target = target.replace(`{${name}}`, encodeURIComponent(value));
    else if (!value) continue;
    else if (field.dataset.place === 'header') headers[name] = value;
    else query.set(name, value);
  }
  if (!privateKey) query.set('apiKey', publicKey);
  if ([...query].length) target += `?${query}`;
  if (body) headers['Content-Type'] = 'application/json';
  const shown = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  if (privateKey) {
    headers.Authorization = `Basic ${btoa(`${publicKey}:${privateKey.value.trim()}`)}`;
    // The private key is not shown: people copy and share what they see here.
    shown.push('Authorization: Basic base64(PUBLIC_KEY:PRIVATE_KEY)');
  }

  document.querySelector('[data-built]')?.remove();
  answer.hidden = false;
  show('request', [`${method} ${target}`, ...shown, ...(body ? ['', body.value] : [])].join('\n'));
  show('status', sending);
  for (const name of ['limit', 'body', 'headers']) show(name, '');
  const start = performance.now();
  try {
    // Without cookies, as from any other place, and so that the browser asks for no password.
    const response = await fetch(target, { method, headers, body: body?.value, credentials: 'omit', cache: 'no-store' });
    const text = await response.text();
    const status = `${response.status} ${response.statusText}`.trim();
    show('status', took.replace('{status}', status).replace('{ms}', Math.round(performance.now() - start)));
    show('headers', [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'));
    const remaining = /r=(\d+)/.exec(response.headers.get('RateLimit') ?? '');
    const limit = /q=(\d+)/.exec(response.headers.get('RateLimit-Policy') ?? '');
    if (remaining && limit) show('limit', left.replace('{left}', remaining[1]).replace('{limit}', limit[1]));
    let pretty = text;
    try { pretty = JSON.stringify(JSON.parse(text), null, 2); } catch { /* Not JSON: shown as it is. */ }
    show('body', pretty);
  } catch {
    show('status', failed);
  }
});

// Shows results under the search field while somebody types. Without this script, the form leads to a page of results.
const docsSearch = document.querySelector('.docs-search');
if (docsSearch) {
  const input = docsSearch.elements.q;
  const panel = document.createElement('div');
  const status = document.createElement('p');
  const list = document.createElement('ul');
  panel.className = 'docs-live';
  status.className = 'small soft';
  status.setAttribute('role', 'status');
  panel.append(status, list);
  docsSearch.after(panel);
  let pending;

  const row = ({ url, page, title }) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = url;
    link.textContent = title;
    if (page !== title) {
      const about = document.createElement('span');
      about.className = 'small soft second-line';
      about.textContent = page;
      link.append(about);
    }
    item.append(link);
    return item;
  };
  const clear = () => { status.textContent = ''; list.replaceChildren(); };

  input.addEventListener('input', async () => {
    // Nobody waits for the results of what was typed before.
    pending?.abort();
    const { signal } = pending = new AbortController();
    const text = input.value.trim();
    if (!text) return clear();
    try {
      const response = await fetch('/developers/search.json?q=' + encodeURIComponent(text), { signal, credentials: 'omit' });
      if (!response.ok) return;
      const found = await response.json();
      if (signal.aborted) return;
      list.replaceChildren(...found.results.map(row));
      status.textContent = found.status;
    } catch { /* The form still works. */ }
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !list.children.length) return;
    event.preventDefault();
    pending?.abort();
    clear();
  });
}
