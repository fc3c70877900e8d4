/** The tools of the agents: what each does, and the one argument it has. */
exports.tools = [
  {
    name: 'get_weather',
    description: 'The weather of a city.',
    argument: 'city',
    run: ({ city }) => ({ city, celsius: 21 }),
  },
  {
    name: 'get_rate',
    description: 'The exchange rate of a currency.',
    argument: 'symbol',
    run: ({ symbol }) => ({ symbol, perEuro: 0.94 }),
  },
];

/** Prints the answer. A failure sets the exit code, and does not end the process: its spans are sent first. */
exports.printAnswer = async (answer) => {
  try {
    console.log(await answer);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
};

exports.schemaOf = ({ argument }) => ({
  type: 'object',
  properties: { [argument]: { type: 'string' } },
  required: [argument],
});
