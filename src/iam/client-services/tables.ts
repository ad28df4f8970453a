export interface ClientServiceTables {
  /** Differences from an account that may use everything. */
  client_services: {
    client_id: number;
    service: 'CLOUD' | 'STREAMING';
    status: ServiceStatus;
    previous_status: ServiceStatus;
    enabled: boolean;
    changed_at: Date;
  };
}

export type ServiceStatus = 'new' | 'trial' | 'trialend' | 'active' | 'paused' | 'activating' | 'deleted';
