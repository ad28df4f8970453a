import { Type } from 'typebox';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { nullable } from '../../../../lib/nullable.ts';
import type { Platform } from '../../../../platform.ts';
import { presentedInstance } from '../presenter.ts';
import { InstanceAnswer, InstanceParams } from '../schema.ts';
import { getInstance } from '../service.ts';
import type { ActionName } from './actions.ts';
import { StartFields } from './schema.ts';
import { actOnInstanceNow } from './service.ts';

const DIRECT: { path: string; action: ActionName; summary: string }[] = [
  { path: 'start', action: 'start', summary: 'Start an instance immediately' },
  { path: 'stop', action: 'stop', summary: 'Stop an instance immediately' },
  { path: 'reboot', action: 'reboot', summary: 'Reboot an instance immediately' },
  { path: 'powercycle', action: 'reboot_hard', summary: 'Power-cycle an instance immediately' },
  { path: 'suspend', action: 'suspend', summary: 'Suspend an instance immediately' },
  { path: 'resume', action: 'resume', summary: 'Resume an instance immediately' },
];
const StartBody = nullable(
  Type.Object(StartFields, {
    title: 'StartInstanceNow',
    additionalProperties: false,
    examples: [{ activate_profile: true }],
  }),
);

/** Routes for actions from before there were tasks: the answer is the instance in its new state. */
export function directActionRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Instances'], params: InstanceParams, deprecated: true });
  for (const { path, action, summary } of DIRECT) {
    api.post(`/cloud/v1/instances/:project_id/:region_id/:instance_id/${path}`, `${path}Instance`, summary, {
      description:
        'Starts no task, since a simulated machine is ready immediately. Returns the instance in its new state. Fails in the same cases as the action of version 2.',
      ...(action === 'start' && { body: StartBody }),
      answer: InstanceAnswer,
      handler: async ({ scope, params }) => {
        const { instance_id: id } = params;
        await actOnInstanceNow(on, scope, id, action);
        const row = await getInstance(on, scope, id);
        return presentedInstance(row, scope, { subnets: true, interfaceNames: true });
      },
    });
  }
}
