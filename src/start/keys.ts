import { systemClock } from '../lib/clock.ts';
import { ConflictError, InvalidError } from '../lib/errors.ts';
import { encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { giveUpLost, lostSecrets } from '../secrets/loss.ts';
import { rotateKeys } from '../secrets/preparation.ts';
import type { Command } from './command.ts';
import { asOperator } from './operator.ts';

export const keysRotate: Command = {
  summary: 'encrypt the secrets in the database with a new key',
  help: `  --new-key   make a new encryption key first, before the others in its file
  Makes a new data key, encrypted with the first encryption key, and encrypts every secret with it. Works while
  Tradewind runs. It is also what encrypts the secrets of a database from before.
`,
  options: { 'new-key': { type: 'boolean' } },
  run: ({ config, options }) =>
    asOperator(config, async (database) => {
      const encryptionKeys = encryptionKeysOf(config);
      const { file } = encryptionKeys;
      if (options['new-key']) {
        if (file === undefined)
          throw new InvalidError({
            'new-key': [
              'The key is in TRADEWIND_ENCRYPTION_KEY: put a new one before it there, with a comma between them, and leave --new-key out.',
            ],
          });
      }
      const swept = await rotateKeys({
        database,
        clock: systemClock,
        encryptionKeys,
        ...(options['new-key'] && file !== undefined && { newKeyIn: file }),
      });
      if (!swept) throw new ConflictError('Another process encrypts the secrets just now; try again later');
      const done = `${swept.changed} secrets are encrypted with a new data key.`;
      if (!swept.finished)
        throw new ConflictError(
          `${done} A process goes on writing secrets without that key: it is of an older release, or has not this encryption key (its log says so). End it, or give it the key, and run this again`,
        );
      const unreadable = [...swept.unreadable].map(([place, count]) => `${place}: ${count}`);
      if (unreadable.length > 0)
        throw new ConflictError(
          `${done} These can't be read with any key of the database and stay as they are: ${unreadable.join(', ')}`,
        );
      const rest =
        options['new-key'] && encryptionKeys.read().length > 1
          ? `\nBelow its first line, ${file} still has the former keys: backups from before need them, and nothing else does.`
          : '';
      return `${done}${rest}`;
    }),
};

export const keysGiveUp: Command = {
  summary: 'go on without an encryption key that is lost for good',
  help: `  --yes   do it; without, only say what would go
  Removes what nobody can read any more. Stop every process on the database first.
`,
  options: { yes: { type: 'boolean' } },
  run: ({ config, options }) =>
    asOperator(config, async (database) => {
      const encryptionKeys = encryptionKeysOf(config);
      const { dataKeyIds, counts } = await lostSecrets(database.sql, encryptionKeys);
      if (dataKeyIds.length === 0) return 'Nothing is lost: this encryption key reads every data key.';
      const shown = [...counts].map(([place, count]) => `${place}  ${count}`).join('\n');
      if (!options.yes) return `${shown}\nNothing was removed. Say --yes to go on without them.`;
      await giveUpLost(database, dataKeyIds);
      return `${shown}\nThese are removed. The next start begins with new keys, and everybody has to log in again.`;
    }),
};
