import { Causeway, NotFoundError } from 'causeway-client';

const causeway = new Causeway({ baseUrl: 'https://causeway.example', publicKey: 'PUBLIC_KEY' });

const { nonprofits } = await causeway.search('red cro', { take: 5 });
for (const { name, profileUrl } of nonprofits) console.log(name, profileUrl);
try {
  await causeway.nonprofit('no-such-nonprofit');
} catch (error) {
  if (!(error instanceof NotFoundError)) throw error;
  console.log(error.detail);
}
