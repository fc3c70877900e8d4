import { parseEmbeddedJson } from '../../../event/json/embedded-json.ts';
import { digitsOf } from '../../../event/json/exact-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../event/json/json-value.ts';

/** Shorter texts are stored each time: a reference to one is not much shorter. */
const charsMin = 256;

/** Texts in which parts are looked for. Each costs a search in all of these fields. */
const searchedMax = 64;

/** A text in a field of the contract, by the path of the field below `properties.<type>`. */
interface FieldText {
  readonly path: string;
  readonly text: string;
}

/**
 * Stores each text of an event once. Instrumentations send a text several times (as a message, in the whole
 * request, in the whole response), and the fields of the contract hold it another time. The first place in
 * this order keeps it: the fields of docs/api.md §2.6 and §2.7, then the messages, then the attributes. The
 * others get `{ sameAs: path }`, or `{ sameAs: path, from, chars }` for a part of a text, in UTF-16 code
 * units. JSON text in attributes is stored as JSON, so that the texts in it are found.
 */
export function storeTextsOnce(event: JsonObject): void {
  const { llm, tool } = membersOf(event.properties);
  if (isJsonObject(llm)) new TextsOnce(llm).runLlm();
  if (isJsonObject(tool)) new TextsOnce(tool).runTool();
}

class TextsOnce {
  readonly #payload: JsonObject;
  readonly #paths = new Map<string, string>();
  readonly #fields: FieldText[] = [];
  #searches = 0;

  constructor(payload: JsonObject) {
    this.#payload = payload;
  }

  /** A tool's input and output stay as they are. */
  runTool(): void {
    const { input, output, otel } = this.#payload;
    this.#noteField('input', input);
    this.#noteField('output', output);
    if (otel !== undefined) this.#replaceIn(otel, 'otel');
  }

  runLlm(): void {
    const { input, output, otel } = this.#payload;
    const [inputs, outputs] = [membersOf(input), membersOf(output)];
    // These keep their texts and types.
    this.#noteField('input.prompt', inputs.prompt);
    this.#noteField('input.system', inputs.system);
    this.#noteField('output.response', outputs.response);
    this.#note('output.toolCalls', outputs.toolCalls);
    this.#note('input.tools', inputs.tools);
    for (const [name, members] of [
      ['input', inputs],
      ['output', outputs],
    ] as const) {
      const { messages } = members;
      if (messages !== undefined) this.#replaceIn(messages, `${name}.messages`);
    }
    if (otel !== undefined) this.#replaceIn(otel, 'otel');
  }

  #noteField(path: string, value: Json | undefined): void {
    if (typeof value === 'string' && value.length >= charsMin) this.#fields.push({ path, text: value });
    this.#note(path, value);
  }

  /** Notes the texts of a value that stays as it is. */
  #note(path: string, value: Json | undefined): void {
    if (typeof value === 'string') {
      if (value.length >= charsMin && !this.#paths.has(value)) this.#paths.set(value, path);
      return;
    }
    for (const [key, member] of entriesOf(value)) this.#note(`${path}.${key}`, member);
  }

  #replaceIn(value: Json, path: string): void {
    const members = value as JsonObject;
    for (const [key, member] of entriesOf(value)) {
      const at = `${path}.${key}`;
      if (typeof member !== 'string') this.#replaceIn(member, at);
      else if (member.length >= charsMin) members[key] = this.#once(member, at);
    }
  }

  #once(text: string, path: string): Json {
    const known = this.#paths.get(text);
    if (known !== undefined) return { sameAs: known };
    const part = this.#findPart(text);
    if (part !== undefined) return part;
    const json = path.startsWith('otel.') ? parseEmbeddedJson(text) : undefined;
    if (json === undefined) {
      this.#paths.set(text, path);
      return text;
    }
    this.#replaceIn(json, path);
    return json;
  }

  /** A text of several parts is one text in its field: `prompt` joins the parts of a message. */
  #findPart(text: string): Json | undefined {
    if (this.#searches >= searchedMax) return undefined;
    this.#searches += 1;
    for (const field of this.#fields) {
      const from = field.text.indexOf(text);
      if (from !== -1) return { sameAs: field.path, from, chars: text.length };
    }
    return undefined;
  }
}

function membersOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? (value as JsonObject) : {};
}

/** The members of an object, or the elements of a list by index. The digits of a large number have none. */
function entriesOf(value: Json | undefined): [string, Json][] {
  if (typeof value !== 'object' || value === null || digitsOf(value) !== undefined) return [];
  return Object.entries(value as JsonObject);
}
