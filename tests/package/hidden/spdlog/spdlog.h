#error "this header is of the server alone"
