import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

interface OpenApiResponse {
  headers?: Record<string, { required?: boolean }>;
  content: Record<string, { examples?: Record<string, { value: unknown }> }>;
}

/** The parts of an OpenAPI document that the tests use. */
interface OpenApiDocument {
  paths: Record<string, Record<string, { responses: Record<string, OpenApiResponse> }>>;
  components: { schemas: Record<string, object> };
}

/** The OpenAPI document of a service, and functions that compare the service with it. */
export interface Description {
  readonly document: OpenApiDocument;
  /** Compiles the schema at a path in the document. */
  schemaAt(...place: string[]): ValidateFunction;
  /** Expects that the document describes a response: its status, headers and body. */
  expectDescribed(path: string, method: string, answer: Response): Promise<void>;
}

export async function readDescription(url: string): Promise<Description> {
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as OpenApiDocument;
  // Not strict: the document around the schemas is not a schema; they are referenced by their path in it.
  const ajv = new Ajv2020({ strict: false, formats: { uuid: true } });
  ajv.addSchema(document, 'openapi');
  const schemaAt = (...place: string[]) => {
    const keys = place.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')));
    return ajv.compile({ $ref: `openapi#/${keys.join('/')}` });
  };
  return {
    document,
    schemaAt,
    async expectDescribed(path, method, answer) {
      const responses = document.paths[path]?.[method]?.responses ?? {};
      const status = [`${answer.status}`, `${Math.floor(answer.status / 100)}XX`].find(
        (key) => responses[key],
      );
      if (status === undefined) throw new Error(`${answer.status} is not in the document`);
      const place = ['paths', path, method, 'responses', status];
      const matches = schemaAt(...place, 'content', 'application/json', 'schema');
      const body = await answer.json();
      expect(matches(body), JSON.stringify([body, matches.errors])).toBe(true);
      for (const [name, { required }] of Object.entries(responses[status]?.headers ?? {})) {
        const text = answer.headers.get(name);
        if (required === true) expect(text, name).not.toBeNull();
        if (text === null) continue;
        const value = /^\d+$/.test(text) ? Number(text) : text;
        expect(schemaAt(...place, 'headers', name, 'schema')(value), name).toBe(true);
      }
    },
  };
}
