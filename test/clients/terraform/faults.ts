import type { Fault } from '../../../scripts/compatibility/terraform.ts';

/**
 * What the official providers do wrong with any server, with the line of their published source. A run that sees
 * another fault fails, and so does one in which a listed fault is gone.
 */
export const FAULTS: Record<'v0' | 'v2', readonly Fault[]> = {
  v0: [
    {
      module: 'network',
      step: 'import',
      resource: 'gcore_network',
      drift: ['gcore_network.main: create_router'],
      owner: 'provider',
      says: 'an import has no `create_router`, so that the next plan sets it; nothing is sent',
      source: 'gcore/resource_gcore_network.go:253',
    },
  ],
  v2: [],
};
