import { ConflictError, InvalidError } from '../lib/errors.ts';
import { encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { giveUpLost, lostSecrets } from '../secrets/loss.ts';
import { rotateKeys } from '../secrets/preparation.ts';
import type { Command } from './command.ts';
import { asRecordedOperator } from './operator.ts';

export const keysRotate: Command = {
  summary: 'encrypt the secrets in the database with a new key',
  help: `  --new-key   create a new encryption key first, in front of the others in its file
  Creates a new data key, encrypted with the first encryption key, and encrypts every secret with it. Works while
  Tradewind is running. Also encrypts the secrets of a database from an older release.
`,
  options: { 'new-key': { type: 'boolean' } },
  json: true,
  run: (context) =>
    asRecordedOperator(context, 'keys rotate', async (database, { record, clock }) => {
      const { config, options } = context;
      const encryptionKeys = encryptionKeysOf(config);
      const { file } = encryptionKeys;
      if (options['new-key']) {
        if (file === undefined)
          throw new InvalidError({
            'new-key': [
              'The key is in TRADEWIND_ENCRYPTION_KEY: put a new one in front of it there, separated by a comma, and run this command without --new-key.',
            ],
          });
      }
      const swept = await rotateKeys({
        database,
        clock,
        encryptionKeys,
        begun: record,
        ...(options['new-key'] && file !== undefined && { newKeyIn: file }),
      });
      if (!swept) throw new ConflictError('Another process is encrypting the secrets; try again later');
      const done = `${swept.changed} secrets are encrypted with a new data key.`;
      if (swept.heldUpBy !== undefined)
        throw new ConflictError(
          `${done} There may be more in the transaction that ${swept.heldUpBy} has had open for a minute: end it, then run this again`,
        );
      if (!swept.finished)
        throw new ConflictError(
          `${done} Another process still writes secrets without that key: it is an older release, or doesn't have this encryption key (its log says so). Stop it or give it the key, then run this again`,
        );
      const unreadable = [...swept.unreadable].map(([place, count]) => `${place}: ${count}`);
      if (unreadable.length > 0)
        throw new ConflictError(
          `${done} These can't be decrypted with any key in the database and stay as they are: ${unreadable.join(', ')}`,
        );
      const rest =
        options['new-key'] && encryptionKeys.read().length > 1
          ? `\n${file} still has the former keys below its first line: only older backups need them.`
          : '';
      return { text: `${done}${rest}`, data: { changed: swept.changed } };
    }),
};

export const keysGiveUp: Command = {
  summary: 'go on without an encryption key that is lost for good',
  help: `  --yes   do it; otherwise only show what would be removed
  Removes everything that can no longer be decrypted. Stop every process on the database first.
`,
  options: { yes: { type: 'boolean' } },
  json: true,
  run: (context) =>
    asRecordedOperator(context, 'keys give-up', async (database, { record }) => {
      const encryptionKeys = encryptionKeysOf(context.config);
      const { dataKeyIds, counts } = await lostSecrets(database.sql, encryptionKeys);
      const data = { lost: Object.fromEntries(counts), removed: context.options.yes === true };
      if (dataKeyIds.length === 0)
        return { text: 'Nothing is lost: this encryption key decrypts every data key.', data };
      const shown = [...counts].map(([place, count]) => `${place}  ${count}`).join('\n');
      if (!context.options.yes)
        return { text: `${shown}\nNothing was removed. Add --yes to go on without them.`, data };
      await giveUpLost(database, dataKeyIds, record);
      return {
        text: `${shown}\nThese were removed. The next start creates new keys, and everybody has to log in again.`,
        data,
      };
    }),
};
