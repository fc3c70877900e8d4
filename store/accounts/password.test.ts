import { expect, test } from 'vitest';
import { hashPassword, verifyPassword } from './password.ts';

test('only the password that was hashed verifies', async () => {
  const hash = await hashPassword('correct horse');
  expect(await verifyPassword('correct horse', hash)).toBe(true);
  expect(await verifyPassword('correct horsf', hash)).toBe(false);
  expect(await verifyPassword('', hash)).toBe(false);
});

test('a hash is a PHC string with a random salt', async () => {
  const [first, second] = await Promise.all([hashPassword('same'), hashPassword('same')]);
  expect(first).toMatch(/^\$argon2id\$v=19\$m=9216,t=4,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(first).not.toBe(second);
});

test('a hash with other costs, made by another implementation, verifies', async () => {
  // The reference implementation's test vector: argon2id, m=65536, t=2, p=1.
  const hash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  expect(await verifyPassword('password', hash)).toBe(true);
  expect(await verifyPassword('Password', hash)).toBe(false);
});

test('the composed and the decomposed form of an accented letter are equal', async () => {
  expect(await verifyPassword('caf\u0065\u0301', await hashPassword('caf\u00e9'))).toBe(true);
});

test('a damaged hash throws instead of counting as a wrong password', async () => {
  await expect(verifyPassword('any', 'not a hash')).rejects.toThrow('PHC');
});
