import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
// Only this part: the whole package would add 160 KB to the program.
import validator from 'validator/lib/isEmail.js';
import { InvalidError } from './errors.ts';

/** An e-mail address in a request. `requireEmail` checks more than this schema can. */
export const Email = (description: string) =>
  Type.String({ format: 'email', maxLength: 254, description, examples: ['security@example.com'] });

/** Checks more strictly than the schema's format: lengths of the parts, top-level domain. @throws InvalidError */
export function requireEmail(email: string, field = 'email'): void {
  if (validator.default(email)) return;
  throw new InvalidError({ [field]: ['Must be a valid email, such as security@example.com.'] });
}

/** For a user who needs a unique address and has none. RFC 2606: `.invalid` never resolves. */
export function placeholderEmail(): string {
  return `admin@${randomBytes(8).toString('hex')}.invalid`;
}
