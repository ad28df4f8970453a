import type { Selectable } from 'kysely';
import type { Tables } from '../../../db/tables.ts';

type Share = Selectable<Tables['file_shares']>;

export type FileShareType = Share['type_name'];

export interface VastSettings {
  rootSquash: boolean;
  pathLength: Share['path_length'];
  allowedCharacters: Share['allowed_characters'];
}
