import { expect, it } from 'vitest';
import { passwordCommand } from './passwords/service.ts';

it.each([
  ['ann+work@example.com', 'ann+work@example.com'],
  ['`id`@example.com', "'`id`@example.com'"],
  ["o'neill@example.com", "'o'\\''neill@example.com'"],
  ['$(id)@example.com', "'$(id)@example.com'"],
  ['-x@example.com', "'-x@example.com'"],
])('names %s in a form that a shell takes as one word', (email, word) => {
  expect(passwordCommand(email)).toBe(`tradewind user password --email ${word}`);
});
