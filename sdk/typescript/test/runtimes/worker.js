// A worker for workerd. It responds with the results of the scenario; `?background` records and delivers in
// waitUntil.
import { Weir } from '../../dist/index.js';
import { runScenario } from './scenario.js';

// Created at the top level, as in applications: workerd allows no I/O, timers or random numbers here.
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
