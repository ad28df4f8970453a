import { describe, expect, it } from 'vitest';
import { crioProblems, kubeletProblems } from './node-settings.ts';

const fieldsAndTexts = (problems: { field: string; message: string }[]) =>
  problems.map(({ field, message }) => `${field}: ${message}`);

describe('settings of the kubelet', () => {
  it.each([
    { podMaxPids: '4096' },
    { podPidsLimit: '-1' },
    { allowedUnsafeSysctls: 'net.*,kernel.shm*,kernel.sem' },
    { containerLogMaxSize: '10Mi', containerLogMaxFiles: '2' },
    { cpuManagerPolicy: 'static', topologyManagerPolicy: 'single-numa-node', topologyManagerScope: 'pod' },
    { imageGCLowThresholdPercent: '10', imageGCHighThresholdPercent: '20' },
    { imageMaximumGCAge: '1h' },
    { imageMaximumGCAge: '90s', imageMinimumGCAge: '1m' },
    { maxParallelImagePulls: '5', serializeImagePulls: 'false' },
    { shutdownGracePeriod: '30s', shutdownGracePeriodCriticalPods: '10s' },
    { maxPods: '2147483647', podPidsLimit: '999999999999999', evictionMaxPodGracePeriod: '-2147483647' },
    { allowedUnsafeSysctls: 'kernel.msgmax,fs.mqueue.msg_max,net.ipv4.conf.all/rp-filter' },
    { containerLogMaxSize: '999999999999999' },
    { imageGCLowThresholdPercent: '0', imageGCHighThresholdPercent: '100' },
    { imageMaximumGCAge: '0s', imageMinimumGCAge: '0s' },
    { shutdownGracePeriod: '1s', shutdownGracePeriodCriticalPods: '1s' },
    { maxParallelImagePulls: '1' },
    { maxPods: '0', podsPerCore: '0', cpuCFSQuota: 'false', memoryManagerPolicy: 'None' },
  ])('can be %j', (given) => {
    expect(kubeletProblems(given, 'k')).toEqual([]);
  });

  it.each([
    [{ colour: 'blue' }, 'k.colour: Unknown setting. Pools may set: allowedUnsafeSysctls, '],
    [{ max_pod: '5' }, 'k.max_pod: Unknown setting. Did you mean maxPods?'],
    [{ constructor: 'x' }, 'k.constructor: Unknown setting.'],
    [{ evictionHard: 'memory.available<1' }, 'k.evictionHard: Unknown setting.'],
    [{ cpuCFSQuotaPeriod: '100ms' }, 'k.cpuCFSQuotaPeriod: Unknown setting.'],
    [{ maxPods: 'many' }, 'k.maxPods: Must be a whole number from 0 to 2147483647.'],
    [{ maxPods: '-1' }, 'k.maxPods: Must be a whole number from 0'],
    [{ maxPods: '2147483648' }, 'k.maxPods: Must be a whole number from 0'],
    [{ maxPods: '01' }, 'k.maxPods: Must be a whole number from 0'],
    [{ maxPods: 'x1' }, 'k.maxPods: Must be a whole number from 0'],
    [{ maxPods: '1x' }, 'k.maxPods: Must be a whole number from 0'],
    [{ maxPods: '1\n' }, 'k.maxPods: Must be a text in one line.'],
    [{ podPidsLimit: '-2' }, 'k.podPidsLimit: Must be a whole number from -1'],
    [{ podPidsLimit: '1000000000000000' }, 'k.podPidsLimit: Must be a whole number from -1'],
    [{ evictionMaxPodGracePeriod: '-2147483648' }, 'k.evictionMaxPodGracePeriod: Must be a whole number'],
    [{ allowedUnsafeSysctls: 'vm.net.a' }, 'k.allowedUnsafeSysctls: Must be a list'],
    [{ allowedUnsafeSysctls: 'kernel.sem_max' }, 'k.allowedUnsafeSysctls: Must be a list'],
    [{ allowedUnsafeSysctls: 'net.a b' }, 'k.allowedUnsafeSysctls: Must be a list'],
    [{ containerLogMaxSize: '0' }, 'k.containerLogMaxSize: Must be a size'],
    [{ containerLogMaxSize: '1000000000000000' }, 'k.containerLogMaxSize: Must be a size'],
    [{ containerLogMaxSize: 'x1Mi' }, 'k.containerLogMaxSize: Must be a size'],
    [{ containerLogMaxSize: '1MiB' }, 'k.containerLogMaxSize: Must be a size'],
    [{ imageGCLowThresholdPercent: '-1' }, 'k.imageGCLowThresholdPercent: Must be a whole number'],
    [{ imageMaximumGCAge: '1m', imageMinimumGCAge: '1m' }, 'k.imageMaximumGCAge: Must be 0s or more than'],
    [{ imageMaximumGCAge: 'soon' }, 'k.imageMaximumGCAge: Must be a duration'],
    [
      { shutdownGracePeriod: '1s', shutdownGracePeriodCriticalPods: '2s' },
      'k.shutdownGracePeriodCriticalPods: Must be at most',
    ],
    [{ podMaxPids: '1.5' }, 'k.podMaxPids: Must be a whole number from -1'],
    [{ podMaxPids: '1', podPidsLimit: '1' }, 'k.podMaxPids: Is the same as podPidsLimit'],
    [{ allowedUnsafeSysctls: 'net.*,vm.nr_hugepages' }, 'k.allowedUnsafeSysctls: Must be a list'],
    [{ containerLogMaxFiles: '1' }, 'k.containerLogMaxFiles: Must be a whole number from 2'],
    [{ containerLogMaxSize: '10K' }, 'k.containerLogMaxSize: Must be a size such as 10Mi.'],
    [{ cpuCFSQuota: 'yes' }, 'k.cpuCFSQuota: Must be true or false.'],
    [{ cpuManagerPolicy: 'dynamic' }, 'k.cpuManagerPolicy: Must be one of none, static.'],
    [{ memoryManagerPolicy: 'Static' }, 'k.memoryManagerPolicy: Must be one of None.'],
    [{ imageGCHighThresholdPercent: '101' }, 'k.imageGCHighThresholdPercent: Must be a whole number'],
    [{ imageGCLowThresholdPercent: '85' }, 'k.imageGCLowThresholdPercent: imageGCLow'],
    [{ imageGCHighThresholdPercent: '80' }, 'k.imageGCHighThresholdPercent: imageGCLow'],
    [{ imageMinimumGCAge: '-1s' }, 'k.imageMinimumGCAge: Must be a duration'],
    [{ imageMaximumGCAge: '2m' }, 'k.imageMaximumGCAge: Must be 0s or more than'],
    [{ maxParallelImagePulls: '0' }, 'k.maxParallelImagePulls: Must be a whole number from 1'],
    [{ maxParallelImagePulls: '2' }, 'k.maxParallelImagePulls: Must be 1 unless'],
    [{ shutdownGracePeriod: '500ms' }, 'k.shutdownGracePeriod: Must be 0s or'],
    [{ shutdownGracePeriodCriticalPods: '10s' }, 'k.shutdownGracePeriodCriticalPods: Must be at most'],
    [{ topologyManagerPolicy: '' }, 'k.topologyManagerPolicy: Must be one of none, best-effort'],
    [{ topologyManagerScope: 'node' }, 'k.topologyManagerScope: Must be one of container, pod.'],
  ])('are refused as %j', (given, text) => {
    expect(fieldsAndTexts(kubeletProblems(given as Record<string, string>, 'k'))).toEqual([
      expect.stringContaining(text),
    ]);
  });
});

describe('settings of CRI-O', () => {
  it.each([
    { 'default-ulimits': 'nofile=1024:2048' },
    { 'default-ulimits': 'core=0,nproc=5:-1,memlock=-1' },
    { 'default-ulimits': 'nofile=7:7,stack=-1:-1' },
    { 'insecure-registry': '*.example.com,[::1]:5000/a_b-c' },
    { 'log-size-max': '-5', 'pids-limit': '999999999999999' },
    { 'default-env': 'A=b,C=' },
    { 'default-sysctls': 'net.ipv4.ping_group_range=0 0,kernel.sem=1' },
    { 'image-volumes': 'bind', 'log-level': 'warn', 'read-only': 'true' },
    { 'log-size-max': '8192', 'pids-limit': '-1', 'ctr-stop-timeout': '0' },
    { 'log-size-max': '-1' },
    { 'insecure-registry': '10.0.0.0/8,registry.example.com:5000', registry: 'quay.io' },
  ])('can be %j', (given) => {
    expect(crioProblems(given as Record<string, string>, 'c')).toEqual([]);
  });

  it.each([
    [{ root: '/' }, 'c.root: Unknown setting. Pools may set: ctr-stop-timeout, '],
    [{ 'default-ulimit': 'nofile=1' }, 'c.default-ulimit: Unknown setting. Did you mean default-ulimits?'],
    [{ 'default-ulimits': 'nofiles=1024' }, 'c.default-ulimits: Must be a list with commas'],
    [{ 'default-ulimits': 'nofile=2048:1024' }, 'c.default-ulimits: Must be a list with commas'],
    [{ 'default-ulimits': 'nofile=-1:1024' }, 'c.default-ulimits: Must be a list with commas'],
    [{ 'default-ulimits': '1nofile=1' }, 'c.default-ulimits: Must be a list with commas'],
    [{ 'default-ulimits': 'nofile=1:' }, 'c.default-ulimits: Must be a list with commas'],
    [{ 'default-ulimits': 'nofile=a' }, 'c.default-ulimits: Must be a list with commas'],
    [{ 'default-ulimits': 'nofile=1:a' }, 'c.default-ulimits: Must be a list with commas'],
    [{ 'default-ulimits': 'nofile=1:2:3' }, 'c.default-ulimits: Must be a list with commas'],
    [{ 'default-ulimits': '' }, 'c.default-ulimits: Must be a list with commas'],
    [{ 'default-env': 'A' }, 'c.default-env: Must be a list with commas'],
    [{ 'default-sysctls': 'vm.overcommit_memory=1' }, 'c.default-sysctls: Must be a list'],
    [{ 'default-env': '=b' }, 'c.default-env: Must be a list with commas'],
    [{ 'default-env': 'A B=c' }, 'c.default-env: Must be a list with commas'],
    [{ 'log-size-max': '0' }, 'c.log-size-max: Must be a number of bytes'],
    [{ 'log-size-max': 'many' }, 'c.log-size-max: Must be a number of bytes'],
    [{ registry: '-a' }, 'c.registry: Must be a list with commas'],
    [{ 'default-sysctls': 'net.core.somaxconn' }, 'c.default-sysctls: Must be a list'],
    [{ 'image-volumes': 'copy' }, 'c.image-volumes: Must be one of mkdir, bind, ignore.'],
    [{ 'log-level': 'loud' }, 'c.log-level: Must be one of trace'],
    [{ 'log-size-max': '8191' }, 'c.log-size-max: Must be a number of bytes'],
    [{ 'pids-limit': '1.5' }, 'c.pids-limit: Must be a whole number'],
    [{ 'read-only': '1' }, 'c.read-only: Must be true or false.'],
    [{ registry: 'a b' }, 'c.registry: Must be a list with commas'],
    [{ registry: 'quay.io"' }, 'c.registry: Must be a list with commas'],
  ])('are refused as %j', (given, text) => {
    expect(fieldsAndTexts(crioProblems(given as Record<string, string>, 'c'))).toEqual([expect.stringContaining(text)]);
  });
});
