// The proof of work before a payment page opens: finds a number whose SHA-256, after a text, begins with enough zero bits.
// The hash is computed here because the cryptography of browsers is missing on sites without TLS, and answers too slowly for
// many short texts. Without this script, the page offers a link by email.
'use strict';

const primes = [];
for (let number = 2; primes.length < 64; number++) {
  if (primes.every((prime) => number % prime)) primes.push(number);
}
const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) | 0;
const CONSTANTS = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
const START = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
const words = new Int32Array(64);

// The first word of the SHA-256 of an ASCII text of at most 55 characters, which is one block.
const hash = (text) => {
  words.fill(0, 0, 16);
  for (let i = 0; i < text.length; i++) words[i >> 2] |= text.charCodeAt(i) << (24 - (i % 4) * 8);
  words[text.length >> 2] |= 0x80 << (24 - (text.length % 4) * 8);
  words[15] = text.length * 8;
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15], y = words[i - 2];
    const s0 = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3;
    const s1 = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10;
    words[i] = (words[i - 16] + s0 + words[i - 7] + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = START;
  for (let i = 0; i < 64; i++) {
    const s1 = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
    const t1 = (h + s1 + (e & f ^ ~e & g) + CONSTANTS[i] + words[i]) | 0;
    const s0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10);
    const t2 = (s0 + (a & b ^ a & c ^ b & c)) | 0;
    h = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
  }
  return (START[0] + a) | 0;
};

for (const form of document.querySelectorAll('form[data-proof]')) {
  const { proof, bits, working, done } = form.dataset;
  const status = form.querySelector('[role="status"]');
  let number = 0, isWanted = false;
  status.textContent = working;

  const work = () => {
    const end = performance.now() + 12;
    while (performance.now() < end) {
      for (let i = 0; i < 64; i++, number++) {
        if (Math.clz32(hash(proof + ':' + number)) >= bits) {
          form.elements.proof.value = number;
          status.textContent = done;
          if (isWanted) form.submit();
          return;
        }
      }
    }
    setTimeout(work);
  };
  setTimeout(work);

  // Who continues before the work is done waits for it, and then leaves by itself.
  form.addEventListener('submit', (event) => {
    if (form.elements.proof.value) return;
    event.preventDefault();
    isWanted = true;
    status.textContent = '';
    setTimeout(() => { if (!form.elements.proof.value) status.textContent = working; }, 50);
  });
}
