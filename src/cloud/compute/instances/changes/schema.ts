import { type Static, Type } from 'typebox';
import { TagsPatchInput } from '../../../../lib/tags.ts';
import { Choice, Input, nullable, OptionalFlag, Query, ResourceName } from '../../../../lib/wire.ts';
import type { InstanceStatus, VmState } from '../../../ground/hosts/states.ts';

interface Action {
  taskType: string;
  /** States in which the action may begin. */
  from: readonly VmState[];
  /** Shown while the task works. Without a `status`, the instance's status doesn't change. */
  during: { status?: InstanceStatus; task_state: string };
  end: { status: InstanceStatus; vm_state: VmState };
}

const running = { status: 'ACTIVE', vm_state: 'active' } as const;

/** Where each action may begin, what it shows and where it ends, from the state checks in Nova's compute API. */
export const ACTIONS = {
  start: {
    taskType: 'start_vm',
    from: ['stopped'],
    during: { task_state: 'powering-on' },
    end: running,
  },
  stop: {
    taskType: 'stop_vm',
    from: ['active', 'error'],
    during: { task_state: 'powering-off' },
    end: { status: 'SHUTOFF', vm_state: 'stopped' },
  },
  reboot: {
    taskType: 'soft_reboot_vm',
    from: ['active'],
    during: { status: 'REBOOT', task_state: 'rebooting' },
    end: running,
  },
  reboot_hard: {
    taskType: 'hard_reboot_vm',
    from: ['active', 'stopped', 'paused', 'suspended', 'error'],
    during: { status: 'HARD_REBOOT', task_state: 'rebooting_hard' },
    end: running,
  },
  suspend: {
    taskType: 'suspend_vm',
    from: ['active'],
    during: { task_state: 'suspending' },
    end: { status: 'SUSPENDED', vm_state: 'suspended' },
  },
  resume: {
    taskType: 'resume_vm',
    from: ['suspended'],
    during: { task_state: 'resuming' },
    end: running,
  },
} as const satisfies Record<string, Action>;
export type ActionName = keyof typeof ACTIONS;

/** As published, and as in Nova's driver for bare metal. */
export const NOT_OF_BARE_METAL: readonly ActionName[] = ['suspend', 'resume'];

/** States in which the flavor may change, as in Nova. The instance ends in the state in which it began. */
export const RESIZABLE: readonly VmState[] = ['active', 'stopped'];

export const UpdateInstance = Input(
  'UpdateInstance',
  { name: Type.Optional(ResourceName('Name')), tags: Type.Optional(TagsPatchInput) },
  { name: 'web-2', tags: { env: 'staging', owner: null } },
);
export type UpdateInstance = Static<typeof UpdateInstance>;

const START = 'start';
const OTHERS = (Object.keys(ACTIONS) as ActionName[]).filter((name) => name !== START);
export const StartFields = {
  activate_profile: Type.Optional(
    nullable(
      Type.Boolean({
        default: true,
        description: 'Whether to activate DDoS protection as well; has no effect: profiles are switched by themselves',
      }),
    ),
  ),
};
const actions = [
  Input('StartInstance', { action: Type.Literal(START), ...StartFields }),
  Input('PlainInstanceAction', { action: Choice(OTHERS) }),
] as const;

export const InstanceAction = Type.Unsafe<{ action: ActionName; activate_profile?: boolean | null }>({
  type: 'object',
  title: 'InstanceAction',
  discriminator: { propertyName: 'action' },
  required: ['action'],
  oneOf: actions,
  examples: [{ action: 'reboot' }],
});

export const ChangeFlavor = Input(
  'ChangeFlavor',
  {
    flavor_id: Type.String({ minLength: 1, maxLength: 255, description: 'Flavor ID' }),
  },
  { flavor_id: 'g1-standard-2-4' },
);

export const AvailableFlavorsQuery = Query({
  include_prices: OptionalFlag({ default: false, description: 'Include prices' }),
});
