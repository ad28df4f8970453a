import type { ApiCommand } from '../api/api-command.ts';

export const prices: readonly ApiCommand[] = [
  { name: 'price preview volume', operation: 'previewVolumePrice' },
  { name: 'price preview snapshot', operation: 'previewSnapshotPrice' },
  { name: 'price preview image', operation: 'previewImagePrice' },
  { name: 'price preview instance', operation: 'previewInstancePrice' },
  { name: 'price preview cluster', operation: 'previewKubernetesPrice' },
  { name: 'price preview load-balancer', operation: 'previewLoadBalancerPrice' },
  { name: 'price preview floating-ip', operation: 'previewFloatingIpPrice' },
  {
    name: 'price preview reserved-ip',
    operation: 'previewReservedFixedIpPrice',
    help: 'For example: --data \'{"type": "external"}\'',
  },
  { name: 'price preview file-share', operation: 'previewFileSharePrice' },
  { name: 'price instance', operation: 'getInstancePrice', arguments: ['instance_id'] },
  { name: 'price cluster', operation: 'getKubernetesPrice', arguments: ['cluster_name'] },
  { name: 'price ddos', operation: 'getDdosPrice' },
  { name: 'price logging', operation: 'getLoggingPrice' },
];
