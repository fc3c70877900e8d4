import { env } from 'node:process';

// The page's server forwards the calls to Weir and adds the API key, so that the key never reaches a browser.
export default {
  server: {
    proxy: {
      '/weir.ingest.v1.IngestService/': {
        target: env.WEIR_URL,
        headers: { authorization: `Bearer ${env.WEIR_API_KEY}` },
      },
    },
  },
};
