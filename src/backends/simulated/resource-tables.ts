export interface SimulatedResourceTables {
  simulated_resources: {
    id: string;
    kind: string;
    ordered_at: Date;
    removal_ordered_at: Date | null;
  };
}
