import type { Random } from '../lib/random.ts';

/**
 * The conversations of the sample events: customers of Spoke & Saddle, a fictional bicycle shop, and its support agent.
 * All texts were written for Weir.
 */

export const systemPrompt = `# Support agent of Spoke & Saddle

You help customers of Spoke & Saddle, a shop that sells, rents and repairs bicycles. You are friendly, brief and exact.

## Rules

- Look things up before you state them: never guess a price, a date or a stock level.
- Use one tool at a time. When a tool fails, try it once more; when it fails again, say so and offer a call back.
- Before you change an order, a rental or an appointment, repeat what you are going to do and wait for a clear "yes".
- Orders can be changed until they are packed. A packed order can only be returned, within 30 days of its arrival.
- Rentals can be cancelled free of charge up to 24 hours before they begin; later, the first day is charged.
- A repair estimate is binding for 14 days. Wear of brake pads, chains and tyres is not covered by the guarantee.
- Refunds go to the means of payment that was used, and take 3 to 5 working days.
- Never ask for a full card number. The last four digits are enough to tell two cards apart.
- Hand over to a colleague when a customer was hurt, when a theft is reported, or when you are asked to.

## Opening hours

Monday to Friday 9:00 – 18:30, Saturday 9:00 – 14:00. The workshop closes half an hour earlier.`;

function tool(name: string, description: string, ...required: string[]) {
  const properties = Object.fromEntries(required.map((field) => [field, { type: 'string' }]));
  return {
    type: 'function',
    function: { name, description, parameters: { type: 'object', properties, required } },
  };
}

export const tools = [
  tool('find_customer', 'Finds a customer by e-mail address', 'email'),
  tool('get_order', 'Reads an order: items, state, delivery', 'orderId'),
  tool('check_stock', 'How many of an article are in stock, and when more come', 'sku'),
  tool('change_order', 'Changes an item of an order that is not packed yet', 'orderId', 'from', 'to'),
  tool('book_repair', 'Books an appointment in the workshop', 'customerId', 'date', 'work'),
  tool('cancel_rental', 'Cancels a rental', 'rentalId'),
];

/** A tool call of the agent, and its result. */
export interface ToolStep {
  name: string;
  input: Record<string, unknown>;
  output?: Record<string, unknown>;
  error?: { code: string; httpStatus: number; message: string };
}

/** A message of the customer, followed by tool calls and the agent's answer. */
export interface Turn {
  customer: string;
  steps: ToolStep[];
  answer: string;
}

export interface Customer {
  id: string;
  name: string;
  email: string;
}

const names = [
  'Ines Okafor',
  'Jonas Brandt',
  'Mai Tran',
  'Rosa Delgado',
  'Tomasz Zając',
  'Yusuf Çelik',
  'Zoë Müller',
] as const;
const tubes = ['tube-28-presta', 'tube-28-schrader', 'tube-26-presta'] as const;

export function chooseCustomer(random: Random): Customer {
  const name = random.pick(names);
  const ascii = name.normalize('NFD').replaceAll(/[^A-Za-z ]/g, '');
  return {
    id: `cus_${random.between(10_000, 99_999)}`,
    name,
    email: `${ascii.toLowerCase().replace(' ', '.')}@example.com`,
  };
}

const findCustomer = (customer: Customer): ToolStep => ({
  name: 'find_customer',
  input: { email: customer.email },
  output: {
    customerId: customer.id,
    name: customer.name,
    since: '2023-04-11',
    openOrders: 1,
    openRentals: 1,
  },
});

export function changeOrder(random: Random, customer: Customer): Turn[] {
  const orderId = `ord_${random.between(100_000, 999_999)}`;
  const sku = random.pick(tubes);
  const inStock = random.between(3, 60);
  const cents = random.between(590, 990);
  return [
    {
      customer: `Hi, I ordered the wrong inner tubes yesterday (order ${orderId}). I need ${sku} instead. My mail is ${customer.email}.`,
      steps: [
        findCustomer(customer),
        {
          name: 'get_order',
          input: { orderId },
          output: {
            orderId,
            state: 'paid',
            items: [
              { sku: 'tube-20-schrader', quantity: 2, cents },
              { sku: 'lights-set-b', quantity: 1, cents: 3_490 },
            ],
            delivery: { carrier: 'bike courier', expected: '2026-11-05' },
          },
        },
        { name: 'check_stock', input: { sku }, output: { sku, inStock, cents, next: null } },
      ],
      answer: `Hello ${customer.name}! Your order ${orderId} is paid and not packed yet, so I can change it: 2 × tube-20-schrader would become 2 × ${sku}, at the same price. Shall I do that?`,
    },
    {
      customer: 'Yes, please 👍',
      steps: [
        {
          name: 'change_order',
          input: { orderId, from: 'tube-20-schrader', to: sku },
          output: { orderId, state: 'paid', changed: true, differenceCents: 0 },
        },
      ],
      answer: `Done: order ${orderId} now has 2 × ${sku}. It still arrives on 5 November. Anything else?`,
    },
  ];
}

export function bookRepair(random: Random, customer: Customer): Turn[] {
  const date = `2026-11-${random.between(10, 27)}`;
  const appointmentId = `app_${random.between(1_000, 9_999)}`;
  return [
    {
      customer: `My back brake squeals and hardly bites. Can someone look at it on ${date}? ${customer.email}`,
      steps: [
        findCustomer(customer),
        {
          name: 'book_repair',
          input: { customerId: customer.id, date, work: 'rear brake: squeals, weak' },
          error: {
            code: 'timeout',
            httpStatus: 504,
            message: 'workshop calendar did not answer within 3000 ms',
          },
        },
        {
          name: 'book_repair',
          input: { customerId: customer.id, date, work: 'rear brake: squeals, weak' },
          output: { appointmentId, date, from: '10:30', to: '11:00', estimateCents: 2_900 },
        },
      ],
      answer: `You have an appointment on ${date} from 10:30 to 11:00 (${appointmentId}). We estimate 29.00 €; new pads would be extra, since wear is not covered by the guarantee.`,
    },
  ];
}

export function cancelRental(random: Random, customer: Customer): Turn[] {
  const rentalId = `ren_${random.between(10_000, 99_999)}`;
  return [
    {
      customer: `I have to cancel my cargo bike for the weekend, rental ${rentalId}. Does that cost anything?`,
      steps: [],
      answer: `If it begins in more than 24 hours it is free of charge; otherwise the first day is charged. May I have your e-mail address to look it up?`,
    },
    {
      customer: customer.email,
      steps: [findCustomer(customer)],
      answer: `Thank you, ${customer.name}. Rental ${rentalId} begins on Saturday at 9:00, so cancelling is free. Shall I cancel it?`,
    },
    {
      customer: 'yes',
      steps: [
        { name: 'cancel_rental', input: { rentalId }, output: { rentalId, state: 'cancelled', feeCents: 0 } },
      ],
      answer: `Rental ${rentalId} is cancelled, at no cost. The deposit is back on your card in 3 to 5 working days.`,
    },
  ];
}
