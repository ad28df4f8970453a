import { auditVerify } from './audit-verify.ts';
import { catalogApply } from './catalog-apply.ts';
import { clientPause, clientResume } from './client-status.ts';
import type { Command } from './command.ts';
import { doctor } from './doctor.ts';
import { enginesInstall } from './engines-install.ts';
import { keysGiveUp, keysRotate } from './keys.ts';
import { kubernetesInstall } from './kubernetes-install.ts';
import { migrateCommand } from './migrate.ts';
import { orphansList, orphansRemove } from './orphans.ts';
import { serve } from './serve.ts';
import { tokenCreate } from './token-create.ts';
import { userPassword } from './user-password.ts';

export const commands: Record<string, Command> = {
  serve,
  migrate: migrateCommand,
  'catalog apply': catalogApply,
  'keys rotate': keysRotate,
  'keys give-up': keysGiveUp,
  'token create': tokenCreate,
  'user password': userPassword,
  'client pause': clientPause,
  'client resume': clientResume,
  'orphans list': orphansList,
  'orphans remove': orphansRemove,
  'audit verify': auditVerify,
  'engines install': enginesInstall,
  'kubernetes install': kubernetesInstall,
  doctor,
};
