/** The two tools of the agents. */
export const tools = {
  async get_weather({ city }: { city: string }) {
    return { city, celsius: 21 };
  },
  async get_rate({ symbol }: { symbol: string }) {
    return { symbol, perEuro: 0.94 };
  },
};

/** The tool definitions for the model. */
export const descriptions = [
  { name: 'get_weather', description: 'The weather of a city.', parameters: objectWith('city') },
  { name: 'get_rate', description: 'The exchange rate of a currency.', parameters: objectWith('symbol') },
];

/** Most model calls in one run. */
export const stepsMax = 5;

function objectWith(field: string) {
  return { type: 'object' as const, properties: { [field]: { type: 'string' } }, required: [field] };
}
