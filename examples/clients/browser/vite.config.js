import { env } from 'node:process';

// The page's server passes the calls on to Weir and adds the API key, which thus never reaches a browser.
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
