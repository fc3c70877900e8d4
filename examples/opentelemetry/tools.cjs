/** The tools of the agents, each with its description and its only argument. */
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

/** Prints the answer. A failure sets the exit code instead of ending the process, so that its spans are still sent. */
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
