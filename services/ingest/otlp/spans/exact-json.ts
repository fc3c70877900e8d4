export { parseEmbeddedJson } from '../../../../lib/json/embedded-json.ts';
