import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { openChromium } from '../../../harness/tools/chromium.ts';
import { addUser } from '../dashboard.ts';
import { type Pipeline, startPipeline } from '../pipeline.ts';
import { openService, type TestService } from '../service.ts';
import { builtWeb } from './built-web.ts';
import { openVisitor, type Visitor, type VisitorOptions } from './visitor.ts';

/** The whole system with the built pages, and a browser. */
export interface BrowserSystem {
  pipeline: Pipeline;
  /** The address of the dashboard. */
  url: string;
  dashboard: TestService;
  /**
   * Creates a space with an owner and opens a window in which the owner is signed in, at the space's first
   * page.
   */
  visit(options?: VisitorOptions): Promise<SpaceVisitor>;
  /** Opens a window without a session. */
  visitSignedOut(options?: VisitorOptions): Promise<Visitor>;
  /**
   * Sends events through ingest: objects, or JSON texts when the exact bytes matter. They are stored shortly
   * afterwards.
   */
  send(apiKey: string, events: readonly (object | string)[]): Promise<void>;
}

export interface SpaceVisitor extends Visitor {
  spaceId: string;
  apiKey: string;
  email: string;
  password: string;
}

export const passwordOfTests = 'correct horse battery staple';

/**
 * Starts one system and one browser for all tests of the calling file.
 *
 * @returns an object that is empty until the first test runs.
 */
export function useBrowser(): BrowserSystem {
  const system = {} as BrowserSystem;
  const resources = new AsyncDisposableStack();
  beforeAll(async () => {
    const [directory, pipeline, browser] = await Promise.all([builtWeb(), startPipeline(), openChromium()]);
    resources.use(pipeline);
    resources.defer(() => browser.close());
    const dashboard = resources.use(
      await openService('dashboard-api', {
        ...pipeline.variables,
        DASHBOARD_PORT: '0',
        DASHBOARD_WEB_DIR: directory,
        INGEST_URL: pipeline.url,
      }),
    );
    Object.assign(system, describeSystem(pipeline, dashboard, browser));
  });
  afterAll(() => resources.disposeAsync());
  return system;
}

function describeSystem(pipeline: Pipeline, dashboard: TestService, browser: Browser): BrowserSystem {
  const url = dashboard.ready.url ?? '';
  let users = 0;
  return {
    pipeline,
    url,
    dashboard,
    visitSignedOut: (options) => openVisitor(browser, url, options),
    async visit(options) {
      const { spaceId, apiKey } = await pipeline.createTenant();
      const email = `user-${users++}@example.org`;
      await addUser(pipeline.database, { email, password: passwordOfTests, spaceId, role: 'owner' });
      const visitor = await openVisitor(browser, url, options);
      // Signs in through the API: the form is slower and has its own test.
      const answer = await visitor.context.request.post('/trpc/auth.signIn', {
        data: { email, password: passwordOfTests },
      });
      if (!answer.ok()) throw new Error(`signing in failed: ${await answer.text()}`);
      await visitor.page.goto(`/s/${spaceId}`);
      return { ...visitor, spaceId, apiKey, email, password: passwordOfTests };
    },
    async send(apiKey, events) {
      const response = await fetch(`${pipeline.url}/v1/ingest-events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: `{"events":[${events.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join()}]}`,
      });
      if (response.status !== 202)
        throw new Error(`ingest answered ${response.status}: ${await response.text()}`);
    },
  };
}
