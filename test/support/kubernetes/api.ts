import { Agent, fetch } from 'undici';
import type { KubernetesObject } from './objects.ts';

/** Writing an object takes milliseconds, longer on a busy machine. */
const requestTimeoutMs = 60_000;

/** What the API server answers. */
export interface ApiResponse {
  readonly status: number;
  /** Its `Warning` header: what it admits, but should not be written so. */
  readonly warning: string | null;
  /** The object, or a Status with a message. */
  readonly body: KubernetesObject & { readonly message?: string };
}

/** A client of the API server, as an administrator. */
export class KubernetesApi {
  readonly #url: string;
  readonly #authorization: string;
  readonly #agent: Agent;

  constructor(url: string, token: string, certificate: Buffer) {
    this.#url = url;
    this.#authorization = `Bearer ${token}`;
    this.#agent = new Agent({ connect: { ca: certificate } });
  }

  async isReady(): Promise<boolean> {
    const response = await this.#fetch('GET', '/readyz').catch(() => undefined);
    await response?.text();
    return response?.status === 200;
  }

  /**
   * `kubectl apply --server-side`, which rejects unknown and repeated fields, and fields that another manager
   * has set.
   */
  apply(object: KubernetesObject): Promise<ApiResponse> {
    return this.send('PATCH', `${pathOf(object)}?fieldManager=weir&fieldValidation=Strict`, {
      type: 'application/apply-patch+yaml',
      value: object,
    });
  }

  async send(method: string, path: string, content?: { type: string; value: unknown }): Promise<ApiResponse> {
    const response = await this.#fetch(method, path, content);
    const body = (await response.json()) as ApiResponse['body']; // The API has this form.
    return { status: response.status, warning: response.headers.get('warning'), body };
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  #fetch(method: string, path: string, content?: { type: string; value: unknown }) {
    return fetch(`${this.#url}${path}`, {
      method,
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(requestTimeoutMs),
      headers: { authorization: this.#authorization, ...(content && { 'content-type': content.type }) },
      ...(content && { body: JSON.stringify(content.value) }),
    });
  }
}

/** The path of an object. */
export function pathOf({ apiVersion, kind, metadata: { name, namespace } }: KubernetesObject): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const kinds = `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
  return `${group}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${kinds}/${name}`;
}
