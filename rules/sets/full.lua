return {
    about = "everything that the family rules allow",
    families = {
    },
}
