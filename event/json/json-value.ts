/** Numbers that a double cannot hold are raw JSON (exact-json.ts). */
export type Json = null | number | string | boolean | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

export function isJsonObject(json: Json | undefined): json is { readonly [key: string]: Json } {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** Sets a member, also one whose name is `__proto__`. */
export function setMember<T>(object: Record<string, T>, name: string, value: T): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
