export { parseEmbeddedJson } from '../../../../event/json/embedded-json.ts';
