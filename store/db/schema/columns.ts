import { sql } from 'drizzle-orm';
import { customType, numeric, timestamp, uuid } from 'drizzle-orm/pg-core';

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
export const instant = (name: string) => timestamp(name, { withTimezone: true });
export const createdAt = () => instant('created_at').notNull().default(sql`now()`);
/** An exact decimal, as text. */
export const price = (name: string) => numeric(name);
export const newId = () => uuid('id').primaryKey().default(sql`uuidv7()`);
