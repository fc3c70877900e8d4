/** Longest names have five parts: `bedrock/us-east-1/anthropic.claude-…`. Further parts are not tried. */
const partsMax = 6;

const region = /^(us|eu|uk|apac|au|jp|ca|sa|il|global|us-gov)\./;
const vendor = /^(anthropic|amazon|cohere|deepseek|meta|mistral|moonshotai?|openai|qwen|writer|zai)\./;
/** The version that Bedrock appends (`-v1:0`), and the one of Vertex (`@default`). */
const cloudVersion = /(-v\d+(:\d+)*|:\d+|@default)$/;
/** How OpenRouter routes and Claude Code sizes the context: `gpt-4o:nitro`, `claude-sonnet-4-5[1m]`. */
const variant = /(:(nitro|floor|exacto|extended|online|beta|thinking)|\[[a-z0-9]+\])$/;
const release = /([-@]\d{4}-\d\d-\d\d|[-@]20\d{6}|-latest)$/;

/**
 * The names under which a price may be found for a model, in lower case, the most exact first: the name
 * itself, then without what routers and clouds put before it (`models/`, `openrouter/openai/`,
 * `us.anthropic.`) and in its usual spelling, then without the version of a cloud, then without a date or
 * `-latest`, then in the other spelling. A date is removed last, because dated releases of a model can have
 * prices of their own.
 */
export function candidateNames(model: string): string[] {
  const whole = withoutTuning(model.toLowerCase()).replace(variant, '');
  const parts = whole.split('/').slice(-partsMax);
  const tails = parts.map((_, at) => parts.slice(at).join('/'));
  const stems = unique([
    whole,
    ...tails,
    ...tails.map((tail) => tail.replace(region, '')),
    ...tails.map(withoutVendor),
    ...tails.map((tail) => usualName(withoutVendor(tail))),
  ]);
  const versionless = unique(stems.map((name) => name.replace(cloudVersion, '')));
  const undated = versionless.map(undatedName);
  const names = [model.toLowerCase(), ...stems, ...versionless, ...undated];
  return unique([...names, ...names.map(otherSpelling)]).filter((name) => name !== '');
}

/** The maker's name of a release: without router, region, vendor and a cloud's version. Dates stay. */
export function releaseName(model: string): string {
  const last = withoutTuning(model.toLowerCase()).split('/').at(-1) ?? '';
  return withoutVendor(last).replace(cloudVersion, '');
}

/** The name without a date or `-latest`. */
export function undatedName(name: string): string {
  return name.replace(release, '');
}

/** What a map has for a model, under the most exact of its names. */
export function findByName<Value>(byName: ReadonlyMap<string, Value>, model: string): Value | undefined {
  const name = candidateNames(model).find((candidate) => byName.has(candidate));
  return name === undefined ? undefined : byName.get(name);
}

/** A tuned model costs what its tuned base costs: `ft:gpt-4o-2024-08-06` for `ft:gpt-4o-2024-08-06:org:…`. */
function withoutTuning(model: string): string {
  return model.startsWith('ft:') ? model.split(':').slice(0, 2).join(':') : model;
}

function withoutVendor(name: string): string {
  return name.replace(region, '').replace(vendor, '');
}

/** Azure writes `gpt-35-turbo`, OpenRouter `claude-sonnet-4.5`. */
function usualName(name: string): string {
  return name.startsWith('claude') ? name.replace(/(\d)\.(\d)/, '$1-$2') : name.replace(/^gpt-35/, 'gpt-3.5');
}

/** The spelling that {@link usualName} replaces: an own price may have it. */
function otherSpelling(name: string): string {
  return name.startsWith('claude')
    ? name.replace(/(\d)-(\d)(?!\d)/, '$1.$2')
    : name.replace(/^gpt-3\.5/, 'gpt-35');
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
