return {
    about = "what tuning measures: a few strong and different candidates",
    families = {
    },
}
