"""What libraries do, as data: a row for each call in `models/`, tables of classes in `catalogue` and `datasets`."""
