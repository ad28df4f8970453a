import { InvalidError } from '../../lib/errors.ts';

/** Another user has the address, which tells that there is such a user. */
export class AddressTakenError extends InvalidError {
  override get name(): string {
    return 'InvalidError';
  }

  constructor(field: string) {
    super({ [field]: ['User with this email already exists.'] });
  }
}
