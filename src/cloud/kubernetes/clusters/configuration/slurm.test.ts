import { describe, expect, it } from 'vitest';
import type { Slurm } from '../../../../db/json-columns.ts';
import { type FileShareType, slurmNeeds, type VastSettings } from '../../../storage/file-shares/schema.ts';
import { SLURM_OFF } from './configuration.ts';
import type { SlurmInput } from './schema.ts';
import { type SlurmContext, slurmProblems } from './slurm.ts';

const SHARE = '11111111-1111-4111-8111-111111111111';
const KEY = 'aaaaaaaa-1111-4111-8111-111111111111';
const OTHER_KEY = 'bbbbbbbb-1111-4111-8111-111111111111';

const context: SlurmContext = {
  kubernetesVersion: 'v1.32.13',
  hasGpuPool: true,
  vastNfsEnabled: true,
  fileShare: { typeName: 'vast', lacks: [] },
  knownSshKeyIds: new Set([KEY]),
};
const request: SlurmInput = { enabled: true, file_share_id: SHARE, ssh_key_ids: [KEY], worker_count: 2 };
const running: Slurm = { enabled: true, file_share_id: SHARE, ssh_key_ids: [KEY], worker_count: 2 };
const share = (typeName: FileShareType, settings: Partial<VastSettings> = {}) => ({
  fileShare: {
    typeName,
    lacks: slurmNeeds({ rootSquash: false, pathLength: 'NPL', allowedCharacters: 'NPL', ...settings }),
  },
});

describe('forms', () => {
  it('needs all fields to enable', () => {
    expect(slurmProblems({ enabled: true }, SLURM_OFF, context).map(({ field }) => field)).toEqual([
      'add_ons.slurm.file_share_id',
      'add_ons.slurm.ssh_key_ids',
      'add_ons.slurm.worker_count',
    ]);
  });

  it('takes none of them to disable', () => {
    expect(slurmProblems({ enabled: false }, running, undefined)).toEqual([]);
    expect(slurmProblems({ enabled: false, worker_count: 1 }, running, undefined)).toEqual([
      { field: 'add_ons.slurm.worker_count', message: 'Must be left out when enabled is false.' },
    ]);
  });

  it('is not silently accepted when nobody looked at the cluster', () => {
    expect(() => slurmProblems(request, SLURM_OFF, undefined)).toThrow(/context/);
  });
});

describe('switching on accepts', () => {
  it.each<[string, SlurmInput, Partial<SlurmContext>]>([
    ['1.32', request, {}],
    ['1.31 without the v', request, { kubernetesVersion: '1.31.4' }],
    ['as many workers as GPU nodes', { ...request, worker_count: 4 }, {}],
    ['a key in other letter case', { ...request, ssh_key_ids: [KEY.toUpperCase()] }, {}],
  ])('%s', (_, given, change) => {
    expect(slurmProblems(given, SLURM_OFF, { ...context, ...change })).toEqual([]);
  });
});

describe('switching on refuses', () => {
  it.each<[string, SlurmInput, Partial<SlurmContext>, string, RegExp]>([
    ['Kubernetes 1.33', request, { kubernetesVersion: 'v1.33.1' }, 'enabled', /1\.31 or 1\.32.*v1\.33\.1/],
    ['Kubernetes 1.3', request, { kubernetesVersion: 'v1.3.1' }, 'enabled', /1\.31 or 1\.32/],
    ['a cluster without GPU pool', request, { hasGpuPool: false }, 'enabled', /GPU flavor/],
    ['a cluster without VAST NFS', request, { vastNfsEnabled: false }, 'enabled', /vast_enabled/],
    ['an unknown share', request, { fileShare: undefined }, 'file_share_id', /Unknown file share/],
    ['a standard share', request, share('standard'), 'file_share_id', /type standard/],
    ['root squash', request, share('vast', { rootSquash: true }), 'file_share_id', /with root_squash false in/],
    ['short paths', request, share('vast', { pathLength: 'LCD' }), 'file_share_id', /path_length NPL/],
    ['few characters', request, share('vast', { allowedCharacters: null }), 'file_share_id', /allowed_characters NPL/],
    ['an unknown key', { ...request, ssh_key_ids: [KEY, OTHER_KEY] }, {}, 'ssh_key_ids.1', /Unknown SSH key/],
    ['a key twice', { ...request, ssh_key_ids: [KEY, KEY.toUpperCase()] }, {}, 'ssh_key_ids.1', /twice/],
  ])('%s', (_, given, change, field, message) => {
    expect(slurmProblems(given, SLURM_OFF, { ...context, ...change })).toEqual([
      { field: `add_ons.slurm.${field}`, message: expect.stringMatching(message) },
    ]);
  });
});

describe('while it runs', () => {
  it('grows and stays, but never shrinks', () => {
    expect(slurmProblems({ ...request, worker_count: 3 }, running, context)).toEqual([]);
    expect(slurmProblems(request, running, context)).toEqual([]);
    expect(slurmProblems({ ...request, worker_count: 1 }, running, context)).toEqual([
      {
        field: 'add_ons.slurm.worker_count',
        message: "Can't be reduced: 2 workers are running. Send 2 or more.",
      },
    ]);
  });

  it('stays on its share, and begins anew on any that fits', () => {
    const other = { ...request, file_share_id: OTHER_KEY };
    expect(slurmProblems(other, running, context)).toEqual([
      {
        field: 'add_ons.slurm.file_share_id',
        message: expect.stringContaining(`stay on file share ${SHARE}`),
      },
    ]);
    expect(slurmProblems(other, { ...SLURM_OFF, file_share_id: SHARE }, context)).toEqual([]);
    const off = { ...SLURM_OFF, file_share_id: SHARE };
    expect(slurmProblems(request, off, { ...context, fileShare: undefined })).toEqual([
      { field: 'add_ons.slurm.file_share_id', message: expect.stringMatching(/Unknown file share/) },
    ]);
  });

  it('starts anew with any number after it was off', () => {
    expect(slurmProblems({ ...request, worker_count: 1 }, SLURM_OFF, context)).toEqual([]);
  });

  it('takes its own settings again, whatever became of the cluster since', () => {
    const later: SlurmContext = {
      ...context,
      kubernetesVersion: 'v1.33.1',
      fileShare: undefined,
      knownSshKeyIds: new Set(),
    };
    expect(slurmProblems(request, running, later)).toEqual([]);
    expect(slurmProblems({ ...request, worker_count: 3 }, running, later)).toEqual([]);
  });
});
