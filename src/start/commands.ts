import type { Command } from './command.ts';
import { doctor } from './doctor.ts';
import { migrateCommand } from './migrate.ts';
import { serve } from './serve.ts';
import { tokenCreate } from './token-create.ts';

export const commands: Record<string, Command> = {
  serve,
  migrate: migrateCommand,
  'token create': tokenCreate,
  doctor,
};
