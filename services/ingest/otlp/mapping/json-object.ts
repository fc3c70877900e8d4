import { parseIfJson } from '../../../../event/json/embedded-json.ts';
import { isJsonObject, type Json, type JsonObject, setMember } from '../../../../event/json/json-value.ts';

/** The members of an object; of any other value none. */
export function membersOf(json: Json | undefined): { readonly [key: string]: Json } {
  return isJsonObject(json) ? json : {};
}

/** The object in a value, or in its JSON text. */
export function objectIn(value: Json | undefined): { readonly [key: string]: Json } | undefined {
  const json = value === undefined ? undefined : parseIfJson(value);
  return isJsonObject(json) ? json : undefined;
}

/** The members without those that are undefined. */
export function compact(members: { readonly [key: string]: Json | undefined }): JsonObject {
  const compacted: JsonObject = {};
  for (const key in members) {
    const value = members[key];
    if (value !== undefined) setMember(compacted, key, value);
  }
  return compacted;
}

/** The members without zeros, empty texts and empty lists, which are protobuf's defaults. */
export function filled(members: JsonObject): JsonObject {
  const found: JsonObject = {};
  for (const key in members) {
    const value = members[key];
    if (value !== undefined && !isEmpty(value)) setMember(found, key, value);
  }
  return found;
}

export function unlessEmpty(members: JsonObject): JsonObject | undefined {
  return isEmpty(members) ? undefined : members;
}

function isEmpty(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return value === 0 || value === '' || value === null;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}
