/** What carries out the work on networks and subnets. Asked again with the same one, it answers the same. */
export interface NetworkBackend {
  /** Makes it, or brings it to what is recorded of it. */
  put(resource: {
    kind: 'network' | 'subnet' | 'port' | 'floating-ip';
    id: string;
  }): Promise<{ settlesInMs: number }>;
  /** Nothing to do where it isn't there. */
  remove(resource: {
    kind: 'network' | 'subnet' | 'port' | 'floating-ip';
    id: string;
  }): Promise<{ settlesInMs: number }>;
}
