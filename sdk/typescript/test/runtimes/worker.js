// A worker for workerd: answers with what the scenario did; `?background` records and leaves the rest to waitUntil.
import { Weir } from '../../dist/index.js';
import { runScenario } from './scenario.js';

// At the top level, as applications do: workerd allows no input, output, timer or chance here.
const shared = new Weir({ url: 'http://127.0.0.1:1', apiKey: 'key', enabled: false });
let background;

export default {
  async fetch(request, env, ctx) {
    const options = { weirUrl: env.WEIR_URL, providerUrl: env.PROVIDER_URL };
    if (new URL(request.url).search === '?background') {
      background ??= new Weir({ url: env.WEIR_URL, apiKey: 'key' });
      background.context({ waitUntil: (promise) => ctx.waitUntil(promise) }, () =>
        background.record({ type: 'tool', properties: { tool: { name: 'background' } } }),
      );
      return new Response('recorded');
    }
    return Response.json({ ...(await runScenario({ Weir, ...options })), isShared: !shared.isEnabled });
  },
};
