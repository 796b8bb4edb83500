// How `npm run generate` makes src/generated. The description of the API is openapi.json of the repository.
import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: process.env.OPENAPI ?? '../../openapi.json',
  output: { path: process.env.GENERATED ?? 'src/generated', module: { extension: '.js' } },
  logs: { file: false },
  plugins: [
    '@hey-api/typescript',
    '@hey-api/sdk',
    // The URL of the server is always given by the user.
    { name: '@hey-api/client-fetch', baseUrl: false },
  ],
});
